import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'

type Uses = {
  /** Denies calls whose time has come. Resolves with the time of the next one, in ISO 8601. */
  expire(): Promise<string | undefined>
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'error'>
  /** Between two looks, and after a failed one. */
  shortestMs?: number
  retryMs?: number
}

/** The longest wait: the clock may be set, and other nodes have calls of their own. */
const longestMs = 60_000

/** Has calls denied within a second of their time: one timer, for the earliest of them. */
export const approvalWatch = (uses: Uses) => {
  const { expire, clock, log, shortestMs = 50, retryMs = 5_000 } = uses
  let state: 'new' | 'started' | 'stopped' = 'new'
  let timer: NodeJS.Timeout | undefined
  /** When the timer ends, in milliseconds since 1970. */
  let due = Number.POSITIVE_INFINITY
  let looking = Promise.resolve()

  const look = async (): Promise<void> => {
    try {
      const next = await expire()
      if (next !== undefined) watch(next)
    } catch (err) {
      log.error({ err }, 'calls that wait for an approval could not be denied')
      setTimer(clock.now().getTime() + retryMs)
    }
  }

  const setTimer = (time: number): void => {
    if (state !== 'started' || time >= due) return
    due = time
    clearTimeout(timer)
    const ms = Math.max(shortestMs, Math.min(longestMs, time - clock.now().getTime()))
    timer = setTimeout(() => {
      due = Number.POSITIVE_INFINITY
      looking = looking.then(look)
    }, ms).unref()
  }

  const watch = (expiresAt: string): void => setTimer(Date.parse(expiresAt))

  return {
    /** A call waits until then. */
    watch,
    start(): void {
      state = 'started'
      looking = looking.then(look)
    },
    /** Resolves when the look under way has ended. */
    async stop(): Promise<void> {
      state = 'stopped'
      clearTimeout(timer)
      await looking
    },
  }
}
