import { type MonoTypeOperatorFunction, Observable } from 'rxjs'
import { ModelTimeout, ModelUnavailable } from '../../ports/model.ts'
import { relayed } from '../../support/relayed.ts'

export type Patience = {
  /** The longest time for a call with all its retries. */
  totalMs?: number
  retries?: number
  /**
   * The pause before the first retry. It doubles with each retry; up to half of it is taken off at
   * random.
   */
  backOffMs?: number
  /** In [0, 1). */
  random?: () => number
}

/** If the provider asks for a longer pause, the call fails. */
const longestPauseMs = 10_000

/**
 * Retries temporary failures until output has come, and gives up after `totalMs`. Errors with
 * ModelTimeout, or with the last error.
 */
export const retried =
  <T>({
    totalMs = 600_000,
    retries = 2,
    backOffMs = 250,
    random = Math.random,
  }: Patience): MonoTypeOperatorFunction<T> =>
  (calls) =>
    new Observable((subscriber) => {
      let hasOutput = false
      let failed = 0

      const late = setTimeout(
        () => subscriber.error(new ModelTimeout(`no answer within ${totalMs} ms`)),
        totalMs,
      )
      subscriber.add(() => clearTimeout(late))

      /** How long to wait for another call after an error; undefined: there is none. */
      const pauseAfter = (error: unknown): number | undefined => {
        failed++
        if (hasOutput || failed > retries || !(error instanceof ModelUnavailable)) return undefined
        const usual = backOffMs * 2 ** (failed - 1) * (1 - random() / 2)
        const pause = error.retryAfterMs ?? usual
        return pause > longestPauseMs ? undefined : pause
      }

      const call = (): void =>
        relayed(calls, subscriber, {
          next(value) {
            hasOutput = true
            subscriber.next(value)
          },
          error(error) {
            const pause = pauseAfter(error)
            if (pause === undefined) {
              subscriber.error(error)
              return
            }
            const waiting = setTimeout(call, pause)
            subscriber.add(() => clearTimeout(waiting))
          },
        })
      call()
    })
