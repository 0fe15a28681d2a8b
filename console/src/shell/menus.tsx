import { useSyncExternalStore } from 'react'
import { IconButton } from '../components/button.tsx'
import type { IconName } from '../components/icon.tsx'
import { Menu, type MenuAction } from '../components/menu.tsx'
import { useSession } from '../session/session.ts'
import { currentTheme, setTheme, type Theme, themes, watchAppearance } from './theme.ts'

const icons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }
const labels: Readonly<Record<Theme, string>> = {
  system: 'Colors of the system',
  light: 'Light colors',
  dark: 'Dark colors',
}

const ThemeMenu = ({ isFirst }: { isFirst: boolean }) => {
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
      defaultOpen={isFirst}
      trigger={<IconButton icon={icons[theme]} label="Colors" />}
      actions={actions}
    />
  )
}

type AccountMenuProps = { isFirst: boolean; onShortcuts: () => void }

const AccountMenu = ({ isFirst, onShortcuts }: AccountMenuProps) => {
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
      label={`Signed in as ${who}`}
      defaultOpen={isFirst}
      trigger={<IconButton icon="account" label="Account" />}
      actions={actions}
    />
  )
}

type MenusProps = {
  /** The one that is open at first. */
  first: 'account' | 'colors'
  onShortcuts: () => void
}

/** The menus at the end of the sidebar. */
export const Menus = ({ first, onShortcuts }: MenusProps) => (
  <>
    <AccountMenu isFirst={first === 'account'} onShortcuts={onShortcuts} />
    <ThemeMenu isFirst={first === 'colors'} />
  </>
)
