import type { ReactNode } from 'react'
import { Button } from '../../components/button.tsx'
import type { Paging } from '../../components/data-table.tsx'
import { Icon } from '../../components/icon.tsx'
import styles from './history.module.css'

type PagesProps = Paging & { children?: ReactNode }

/** Buttons below a list that lead to its other pages. */
export const Pages = ({ page, first, previous, next, children }: PagesProps) => {
  if (!first && !next && !children) return null
  return (
    <nav className={styles.pages} aria-label="Pages">
      <span>{children}</span>
      <span className="row">
        <span className="number soft small">Page {page}</span>
        <Button onPress={() => first?.()} isDisabled={!first}>
          First
        </Button>
        <Button icon="chevron-left" onPress={() => previous?.()} isDisabled={!previous}>
          Previous
        </Button>
        <Button onPress={() => next?.()} isDisabled={!next}>
          Next
          <Icon name="chevron-right" />
        </Button>
      </span>
    </nav>
  )
}
