import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components'
import styles from './button.module.css'
import { classNames } from './class-names.ts'
import { Icon, type IconName } from './icon.tsx'

type Kind = 'primary' | 'default' | 'quiet' | 'danger'

const classOf = (kind: Kind): string =>
  classNames(styles.button, kind !== 'default' && styles[kind])

type ButtonProps = Omit<AriaButtonProps, 'className' | 'children'> & {
  kind?: Kind
  icon?: IconName
  children: ReactNode
}

/** One primary button a screen; `danger` only inside a confirmation. */
export const Button = ({ kind = 'default', icon, children, ...props }: ButtonProps) => (
  <AriaButton {...props} className={classOf(kind)}>
    {icon && <Icon name={icon} />}
    {children}
  </AriaButton>
)

type IconButtonProps = Omit<AriaButtonProps, 'className' | 'children' | 'aria-label'> & {
  icon: IconName
  label: string
}

/** A button without visible words; the label is its accessible name. */
export const IconButton = ({ icon, label, ...props }: IconButtonProps) => (
  <AriaButton
    {...props}
    aria-label={label}
    className={classNames(styles.button, styles.quiet, styles.icon)}
  >
    <Icon name={icon} />
  </AriaButton>
)

/** The classes of a button, for a link that looks like one. */
export const buttonClass = classOf
