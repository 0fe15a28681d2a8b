import { type MonoTypeOperatorFunction, mergeMap, retry, takeUntil, throwError, timer } from 'rxjs'
import { ModelTimeout, ModelUnavailable } from '../../ports/model.ts'

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
 * Retries temporary failures until output has `begun`, and gives up after `totalMs`. Errors with
 * ModelTimeout, or with the last error.
 */
export const retried = <T>(
  { totalMs = 600_000, retries = 2, backOffMs = 250, random = Math.random }: Patience,
  begun: () => boolean = () => false,
): MonoTypeOperatorFunction<T> => {
  const pauseBefore = (attempt: number, error: ModelUnavailable) =>
    error.retryAfterMs ?? backOffMs * 2 ** (attempt - 1) * (1 - random() / 2)
  return (calls) =>
    calls.pipe(
      retry({
        count: retries,
        delay: (error: unknown, attempt) => {
          if (begun() || !(error instanceof ModelUnavailable)) throw error
          const pause = pauseBefore(attempt, error)
          if (pause > longestPauseMs) throw error
          return timer(pause)
        },
      }),
      takeUntil(
        timer(totalMs).pipe(
          mergeMap(() => throwError(() => new ModelTimeout(`no answer within ${totalMs} ms`))),
        ),
      ),
    )
}
