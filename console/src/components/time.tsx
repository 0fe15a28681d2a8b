import { useSyncExternalStore } from 'react'
import { formatAbsolute, formatRelative } from '../format/time.ts'

const period = 15_000

let now = new Date()
const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One timer for all times of the page, which runs only while there are any. */
const watch = (watcher: () => void) => {
  if (watchers.size === 0) {
    now = new Date()
    timer = setInterval(() => {
      now = new Date()
      for (const each of watchers) each()
    }, period)
  }
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) clearInterval(timer)
  }
}

/** The present, 15 seconds old at most. */
export const useNow = (): Date => useSyncExternalStore(watch, () => now)

type TimeProps = { at: string | null | undefined; absolute?: boolean }

/** A time as a distance from now; its title has date, time and zone. `absolute` shows these. */
export const Time = ({ at, absolute = false }: TimeProps) => {
  const present = useNow()
  if (!at) return <span className="soft">–</span>
  const date = new Date(at)
  const full = formatAbsolute(date)
  const later = new Date(Math.max(present.getTime(), Date.now() - period))
  return (
    <time dateTime={at} title={full} className="number">
      {absolute ? full : formatRelative(date, later)}
    </time>
  )
}
