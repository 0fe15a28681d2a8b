import { useEffect, useRef } from 'react'

export type Shortcut = {
  /** Keys one after another: `g r`, `?`, `j`. */
  keys: string
  label: string
  run: () => void
}

const storageKey = 'reprise.shortcuts'
/** A second key counts within this time of the first, in milliseconds. */
const sequenceMs = 1_200

const registered = new Set<Shortcut>()
const watchers = new Set<() => void>()
let list: readonly Shortcut[] = []

const update = () => {
  list = [...registered]
  for (const watcher of watchers) watcher()
}

export const currentShortcuts = (): readonly Shortcut[] => list

export const watchShortcuts = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Keys that are letters can be switched off: WCAG 2.2, 2.1.4. */
export const areShortcutsOn = (): boolean => {
  try {
    return localStorage.getItem(storageKey) !== 'off'
  } catch {
    return true
  }
}

export const setShortcutsOn = (isOn: boolean): void => {
  try {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off')
  } catch {
    // Without storage they stay on.
  }
  for (const watcher of watchers) watcher()
}

/** A key or a sequence of keys while a component is mounted; listed on the page of shortcuts. */
export const useShortcut = (keys: string, label: string, run: () => void): void => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const shortcut = { keys, label, run: () => latest.current() }
    registered.add(shortcut)
    update()
    return () => {
      registered.delete(shortcut)
      update()
    }
  }, [keys, label])
}

const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('input, textarea, select, [role=menu] *, [role=listbox] *, [role=combobox]'))

/** Listens to the keyboard until the returned function is called. */
export const startShortcuts = (): (() => void) => {
  let former = ''
  let formerAt = 0
  const onKey = (event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey, timeStamp, isComposing } = event
    if (ctrlKey || metaKey || altKey || isComposing || takesText(target) || !areShortcutsOn())
      return
    if (document.querySelector('[role=dialog], [role=alertdialog]')) return
    const sequence = timeStamp - formerAt < sequenceMs ? `${former} ${key}` : key
    const shortcut =
      list.findLast(({ keys }) => keys === sequence) ?? list.findLast(({ keys }) => keys === key)
    former = key
    formerAt = timeStamp
    if (!shortcut) return
    former = ''
    event.preventDefault()
    shortcut.run()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}
