import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { Messages } from '../components/messages.tsx'
import { useSession } from '../session/session.ts'
import { Logo } from './logo.tsx'
import { screensFor } from './navigation.ts'
import styles from './shell.module.css'
import { startShortcuts, useShortcut } from './shortcuts.ts'
import { Sidebar } from './sidebar.tsx'

const Drawer = lazy(async () => ({ default: (await import('./drawer.tsx')).Drawer }))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const ShortcutList = lazy(async () => ({
  default: (await import('./shortcut-list.tsx')).ShortcutList,
}))

const storageKey = 'reprise.sidebar'

/** Moves the focus to the new screen, so that the keyboard and screen readers start there. */
const useFocusOnChange = () => {
  const main = useRef<HTMLElement>(null)
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const former = useRef(pathname)
  useEffect(() => {
    const isFirst = former.current === undefined
    const isSame = former.current === pathname
    former.current = pathname
    if (isFirst || isSame) return
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}

const ScreenShortcut = ({ keys, label, run }: { keys: string; label: string; run: () => void }) => {
  useShortcut(keys, label, run)
  return null
}

const useCollapsed = () => {
  const [isCollapsed, setCollapsed] = useState(
    () => localStorage.getItem(storageKey) === 'collapsed',
  )
  const toggle = () => {
    localStorage.setItem(storageKey, isCollapsed ? 'expanded' : 'collapsed')
    setCollapsed(!isCollapsed)
  }
  return { isCollapsed, toggle }
}

/** Ctrl K, or ⌘ K, wherever the focus is. */
const usePaletteKey = (open: () => void) => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      open()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [open])
}

/** The frame around every screen: sidebar, skip link, palette, shortcuts and messages. */
export const Shell = () => {
  const { can } = useSession()
  const navigate = useNavigate()
  const main = useFocusOnChange()
  const { isCollapsed, toggle } = useCollapsed()
  const [layer, setLayer] = useState<'palette' | 'shortcuts' | 'drawer' | undefined>()
  const [openPalette] = useState(() => () => setLayer('palette'))
  usePaletteKey(openPalette)
  useEffect(startShortcuts, [])
  useShortcut('?', 'Show keyboard shortcuts', () => setLayer('shortcuts'))
  useShortcut('/', 'Search and commands', openPalette)
  const sidebar = { onPalette: openPalette, onShortcuts: () => setLayer('shortcuts') }
  return (
    <div className={classNames(styles.shell, isCollapsed && styles.collapsed)}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <header className={styles.bar}>
        <IconButton icon="menu" label="Open the menu" onPress={() => setLayer('drawer')} />
        <Logo size={20} />
        <strong>Reprise</strong>
      </header>
      <Sidebar {...sidebar} isCollapsed={isCollapsed} onCollapse={toggle} />
      <main ref={main} id="main" tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
      {screensFor(can).map(({ to, label, key }) => (
        <ScreenShortcut
          key={to}
          keys={`g ${key}`}
          label={label}
          run={() => void navigate({ to })}
        />
      ))}
      <Suspense>
        {layer === 'drawer' && <Drawer {...sidebar} onClose={() => setLayer(undefined)} />}
        {layer === 'palette' && (
          <Palette onClose={() => setLayer(undefined)} onShortcuts={sidebar.onShortcuts} />
        )}
        {layer === 'shortcuts' && <ShortcutList onClose={() => setLayer(undefined)} />}
      </Suspense>
      <Messages />
    </div>
  )
}
