import { setTimeout as pause } from 'node:timers/promises'
import { isOutage } from './errors.ts'

/** 25 ms, doubled by each failure in a row up to a quarter of a second; half of it by chance. */
const delayMs = (failures: number): number =>
  Math.min(250, 25 * 2 ** failures) * (1 - Math.random() / 2)

/**
 * For one request that goes on through an outage, for as long as it is worth waiting: a cluster has
 * a new leader after about a second.
 */
export const backoff = (ms: number, ending: AbortSignal) => {
  let since = performance.now()
  let failures = 0
  return {
    /**
     * Waits before the next try.
     * @throws the error when it is no outage, when the time is over, or when the store closes
     */
    wait: async (error: unknown): Promise<void> => {
      const left = since + ms - performance.now()
      if (!isOutage(error) || left <= 0 || ending.aborted) throw error
      const waitMs = Math.min(left, delayMs(failures++))
      await pause(waitMs, undefined, { signal: ending }).catch(() => undefined)
    },
    /** There was an answer: the next outage is another. */
    restart: (): void => {
      since = performance.now()
      failures = 0
    },
  }
}
