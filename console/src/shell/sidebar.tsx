import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { organizationQuery } from '../api/organization.ts'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { Icon } from '../components/icon.tsx'
import { useSession } from '../session/session.ts'
import { Logo } from './logo.tsx'
import { groupsFor } from './navigation.ts'
import styles from './shell.module.css'

/** The name of the organization, where the key may read it. */
const useOrganizationName = (): string | undefined => {
  const { organizationId, can } = useSession()
  const { data } = useQuery({ ...organizationQuery(organizationId), enabled: can('admin:read') })
  return data?.name
}

type SidebarProps = {
  isCollapsed?: boolean
  onCollapse?: () => void
  onPalette: () => void
  onShortcuts: () => void
  /** In a drawer: closes it. */
  onLeave?: () => void
}

const Menus = lazy(async () => ({ default: (await import('./menus.tsx')).Menus }))

/**
 * The buttons of account and colors. Their menus are loaded, and the pressed one opens, with the
 * first press.
 */
const MenuButtons = ({ onShortcuts }: Pick<SidebarProps, 'onShortcuts'>) => {
  const [pressed, setPressed] = useState<'account' | 'colors'>()
  const buttons = (
    <>
      <IconButton
        icon="account"
        label="Account"
        aria-haspopup="menu"
        onPress={() => setPressed('account')}
      />
      <IconButton
        icon="system"
        label="Colors"
        aria-haspopup="menu"
        onPress={() => setPressed('colors')}
      />
    </>
  )
  if (!pressed) return buttons
  return (
    <Suspense fallback={buttons}>
      <Menus first={pressed} onShortcuts={onShortcuts} />
    </Suspense>
  )
}

/** Organization, search and screens; in a narrow window inside a drawer. */
export const Sidebar = (props: SidebarProps) => {
  const { isCollapsed = false, onCollapse, onPalette, onShortcuts, onLeave } = props
  const { can, organizationId } = useSession()
  const name = useOrganizationName()
  return (
    <aside className={styles.sidebar} aria-label="Sidebar">
      <div className={styles.head}>
        <Logo />
        {!isCollapsed && (
          <div className={styles.names}>
            <span
              className={classNames(styles.organization, 'truncate')}
              title={name ?? organizationId}
              dir="auto"
            >
              {name ?? 'Organization'}
            </span>
            <span className="soft small">Reprise</span>
          </div>
        )}
      </div>
      <AriaButton
        className={styles.search ?? ''}
        onPress={onPalette}
        {...(isCollapsed ? { 'aria-label': 'Search' } : {})}
      >
        <Icon name="search" />
        {!isCollapsed && (
          <>
            <span>Search</span>
            <kbd>Ctrl K</kbd>
          </>
        )}
      </AriaButton>
      <nav aria-label="Screens" className={styles.groups}>
        {groupsFor(can).map(({ label, screens }) => (
          <div key={label}>
            {!isCollapsed && <div className={styles.group}>{label}</div>}
            <ul>
              {screens.map(({ to, label: words, icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className={styles.link}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                    activeProps={{ 'aria-current': 'page' }}
                    onClick={onLeave}
                    {...(isCollapsed ? { title: words, 'aria-label': words } : {})}
                  >
                    <Icon name={icon} />
                    {!isCollapsed && words}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className={styles.foot}>
        <MenuButtons onShortcuts={onShortcuts} />
        {onCollapse && (
          <IconButton
            icon={isCollapsed ? 'expand' : 'collapse'}
            label={isCollapsed ? 'Expand the sidebar' : 'Collapse the sidebar'}
            onPress={onCollapse}
          />
        )}
      </div>
    </aside>
  )
}
