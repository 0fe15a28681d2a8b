import type { Clock } from '../ports/clock.ts'
import { newId } from '../support/ids.ts'

let latest = new Date()

/** The same date for the whole of a millisecond: it is asked for some fifteen times in a turn. */
const now = (): Date => {
  const time = Date.now()
  if (time !== latest.getTime()) latest = new Date(time)
  return latest
}

/** The system's time, and new ids. */
export const systemClock: Clock = { now, monotonic: () => performance.now(), id: newId }
