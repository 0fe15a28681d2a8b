/** `system` follows the setting of the device. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'reprise.theme'
const dark = globalThis.matchMedia?.('(prefers-color-scheme: dark)')
const watchers = new Set<() => void>()

const storedTheme = (): Theme => {
  try {
    const stored = localStorage.getItem(storageKey)
    return themes.find((theme) => theme === stored) ?? 'system'
  } catch {
    return 'system'
  }
}

let theme: Theme = storedTheme()

const apply = () => {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  for (const watcher of watchers) watcher()
}

export const currentTheme = (): Theme => theme

/** Changes the colors now and at the next visit. */
export const setTheme = (next: Theme): void => {
  theme = next
  try {
    localStorage.setItem(storageKey, next)
  } catch {
    // Without storage it holds for this page.
  }
  apply()
}

/** The colors in use: `light` or `dark`. */
export const appearance = (): 'light' | 'dark' => {
  if (theme !== 'system') return theme
  return dark?.matches ? 'dark' : 'light'
}

/** Calls a function whenever theme or colors change, until the returned one is called. */
export const watchAppearance = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Applies the stored theme; before anything is rendered. */
export const startTheme = (): void => {
  dark?.addEventListener('change', apply)
  apply()
}
