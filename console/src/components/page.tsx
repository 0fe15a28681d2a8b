import { type ReactNode, useEffect } from 'react'
import { classNames } from './class-names.ts'
import styles from './page.module.css'

type PageProps = {
  title: string
  description?: ReactNode
  /** A link to the list that this page is a part of, above the title. */
  back?: ReactNode
  /** Buttons at the right end of the title. */
  actions?: ReactNode
  /** For text and forms, which are hard to read in long lines. */
  narrow?: boolean
  children?: ReactNode
}

/** The frame of every screen: its title, also that of the window, its actions and its content. */
export const Page = ({ title, description, back, actions, narrow, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} · Reprise`
  }, [title])
  return (
    <div className={classNames(styles.page, narrow && styles.narrow)}>
      <header className={styles.header}>
        <div className={styles.heading}>
          {back && <div className={styles.back}>{back}</div>}
          <h1 dir="auto">{title}</h1>
          {description && <p className={styles.description}>{description}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
