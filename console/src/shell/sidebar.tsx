import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { answerOf, api } from '../api/client.ts'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { Icon, type IconName } from '../components/icon.tsx'
import { Menu, type MenuAction } from '../components/menu.tsx'
import { useSession } from '../session/session.ts'
import { Logo } from './logo.tsx'
import { groupsFor } from './navigation.ts'
import styles from './shell.module.css'
import { currentTheme, setTheme, type Theme, themes, watchAppearance } from './theme.ts'

/** The name of the organization, where the key may read it. */
const useOrganizationName = (): string | undefined => {
  const { organizationId, can } = useSession()
  const { data } = useQuery({
    queryKey: ['organization', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}', {
          params: { path: { organization_id: organizationId } },
        }),
      ),
    enabled: can('admin:read'),
    staleTime: 60_000,
  })
  return data?.name
}

const icons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }
const labels: Readonly<Record<Theme, string>> = {
  system: 'Colors of the system',
  light: 'Light colors',
  dark: 'Dark colors',
}

const ThemeMenu = () => {
  const theme = useSyncExternalStore(watchAppearance, currentTheme)
  const actions = themes.map((id) => ({
    id,
    label: labels[id],
    icon: id === theme ? ('check' as const) : icons[id],
    onAction: () => setTheme(id),
  }))
  return (
    <Menu
      label="Colors"
      trigger={<IconButton icon={icons[theme]} label={`Colors: ${labels[theme]}`} />}
      actions={actions}
    />
  )
}

type SidebarProps = {
  isCollapsed?: boolean
  onCollapse?: () => void
  onPalette: () => void
  onShortcuts: () => void
  /** In a drawer: closes it. */
  onLeave?: () => void
}

const AccountMenu = ({ onShortcuts }: Pick<SidebarProps, 'onShortcuts'>) => {
  const { user, isPlatform, leaveOrganization, signOut } = useSession()
  const who = user.name ?? user.email ?? (isPlatform ? 'the platform' : 'an API key')
  const actions: MenuAction[] = [
    ...(isPlatform
      ? [
          {
            id: 'organizations',
            label: 'Other organization',
            icon: 'people' as const,
            onAction: leaveOrganization,
          },
        ]
      : []),
    { id: 'shortcuts', label: 'Keyboard shortcuts', icon: 'keyboard', onAction: onShortcuts },
    {
      id: 'reference',
      label: 'API reference',
      icon: 'external',
      onAction: () => window.open('/docs', '_blank', 'noopener'),
    },
    { id: 'out', label: 'Sign out', icon: 'sign-out', onAction: () => void signOut() },
    {
      id: 'everywhere',
      label: 'Sign out everywhere',
      icon: 'sign-out',
      onAction: () => void signOut(true),
    },
  ]
  return (
    <Menu
      label="Account"
      trigger={<IconButton icon="account" label={`Account: signed in as ${who}`} />}
      actions={actions}
    />
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
        <AccountMenu onShortcuts={onShortcuts} />
        <ThemeMenu />
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
