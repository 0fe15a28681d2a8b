import { useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import styles from './messages.module.css'

type Message = { id: number; text: string; tone: 'good' | 'bad' }

const durationMs = 6_000
const most = 3

let messages: readonly Message[] = []
let lastId = 0
const watchers = new Set<() => void>()

const set = (next: readonly Message[]) => {
  messages = next
  for (const watcher of watchers) watcher()
}

const dismiss = (id: number) => set(messages.filter((message) => message.id !== id))

/** Says for six seconds what has been done. A failure stays until it is dismissed. */
export const notify = (text: string, tone: Message['tone'] = 'good'): void => {
  const id = ++lastId
  set([...messages, { id, text, tone }].slice(-most))
  if (tone === 'good') setTimeout(() => dismiss(id), durationMs)
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** The region in which messages appear; read out as they come. Once a page. */
export const Messages = () => {
  const current = useSyncExternalStore(watch, () => messages)
  return (
    <div className={styles.messages} role="status" aria-live="polite">
      {current.map(({ id, text, tone }) => (
        <div key={id} className={styles.message}>
          <span className={tone}>
            <Icon name={tone === 'good' ? 'check' : 'warning'} />
          </span>
          {text}
          <IconButton icon="close" label="Dismiss" onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
