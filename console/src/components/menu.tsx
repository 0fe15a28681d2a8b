import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { classNames } from './class-names.ts'
import styles from './fields.module.css'
import { Icon, type IconName } from './icon.tsx'

export type MenuAction = {
  id: string
  label: string
  icon?: IconName
  isDangerous?: boolean
  isDisabled?: boolean
  onAction: () => void
}

type MenuProps = {
  label: string
  /** The button that opens it. */
  trigger: ReactNode
  actions: readonly MenuAction[]
  defaultOpen?: boolean
}

/** Actions of a thing behind one button. */
export const Menu = ({ label, trigger, actions, defaultOpen = false }: MenuProps) => (
  <MenuTrigger defaultOpen={defaultOpen}>
    {trigger}
    <Popover className={styles.popover ?? ''} placement="bottom end">
      <AriaMenu aria-label={label} className={styles.list ?? ''} items={actions}>
        {({ id, label: words, icon, isDangerous, isDisabled, onAction }) => (
          <MenuItem
            id={id}
            textValue={words}
            isDisabled={isDisabled ?? false}
            onAction={onAction}
            className={classNames(styles.option, isDangerous && styles.dangerous)}
          >
            <span className="row">
              {icon && <Icon name={icon} />}
              {words}
            </span>
          </MenuItem>
        )}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
)
