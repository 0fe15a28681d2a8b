import type { Test } from 'tap'
import type { Platform } from './platform.ts'
import { movableClock } from './server.ts'

export const hour = 3_600_000

/**
 * The system's clock, whose wall time goes an hour back, then an hour forth, or the other way
 * round.
 */
export const lurchingClock = (first: number) => {
  const clock = movableClock()
  let next = first
  return {
    clock,
    lurch: () => {
      clock.step(next)
      next = next < 0 ? 2 * hour : -2 * hour
    },
  }
}

type Event = { type: string; data: { durationMs?: number }; metadata: { at: string } }

const longest = 10 * 60_000

/** Holds an organization's history against its rules: times in order, durations as they were. */
export const soundTimes = async (t: Test, platform: Platform, organizationId: string) => {
  const path = `/organizations/${organizationId}/audit/events?limit=500`
  const { events }: { events: Event[] } = await platform.ask('GET', path)
  const times = events.map(({ metadata }) => metadata.at)
  t.strictSame(times, times.toSorted(), 'times never go back')
  const lasting = events.filter(({ data }) => data.durationMs !== undefined)
  for (const { type, data } of lasting) {
    const { durationMs = -1 } = data
    t.ok(durationMs >= 0 && durationMs < longest, `${type} took ${durationMs} ms`)
  }
  return events.map(({ type }) => type)
}
