import type { Check } from '../http/routes/health.ts'
import type { Log } from '../ports/log.ts'

/** So far may the latest event be ahead of this process's clock. */
const mostAheadMs = 5 * 60_000

/** Whether events have about the clock's time; one that is behind stamps all new events alike. */
export const clockCheck = (aheadMs: number): Check =>
  aheadMs <= mostAheadMs
    ? { ok: true }
    : {
        ok: false,
        detail: `the latest event is ${Math.floor(aheadMs / 1_000)} s ahead of the clock`,
      }

/** Said once, at the start. */
export const warnOfClock = (aheadMs: number, log: Pick<Log, 'warn'>): void => {
  const { ok, detail } = clockCheck(aheadMs)
  if (!ok) log.warn({ detail }, 'this clock is behind the events that are stored')
}
