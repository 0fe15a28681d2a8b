import type { Clock } from '../../src/ports/clock.ts'

/** A clock that goes on a second with every look at the time; ids are UUIDs that count up. */
export const clockFrom = (start: string): Clock => {
  const startMs = Date.parse(start)
  let at = startMs
  let idCount = 0
  return {
    now: () => {
      at += 1_000
      return new Date(at)
    },
    monotonic: () => at - startMs,
    id: () => `0198c0de-0000-7000-8000-${(++idCount).toString(16).padStart(12, '0')}`,
  }
}
