import type { Check } from '../http/routes/health.ts'
import type { Log } from '../ports/log.ts'

/** How far the latest event may be ahead of this process's clock. */
const mostAheadMs = 5 * 60_000

/** Fails if the clock is behind the log: new events then all get the same time. */
export const clockCheck = (aheadMs: number): Check =>
  aheadMs <= mostAheadMs
    ? { ok: true }
    : {
        ok: false,
        detail: `the latest event is ${Math.floor(aheadMs / 1_000)} s ahead of the clock`,
      }

/** Logged once, at the start. */
export const warnOfClock = (aheadMs: number, log: Pick<Log, 'warn'>): void => {
  const { ok, detail } = clockCheck(aheadMs)
  if (!ok) log.warn({ detail }, 'this clock is behind the events that are stored')
}
