import { type MonoTypeOperatorFunction, mergeMap, retry, takeUntil, throwError, timer } from 'rxjs'
import { ModelTimeout, ModelUnavailable } from '../../ports/model.ts'

export type Patience = {
  /** One call with all its retries. */
  totalMs?: number
  retries?: number
  /** Before the first retry; doubles with each, less up to half of it by chance. */
  backOffMs?: number
  /** In [0, 1). */
  random?: () => number
}

/** A provider that asks for a longer pause is not asked again within this call. */
const longestPauseMs = 10_000

/**
 * Tries what passes again, as long as nothing has `begun` to come, and gives up after `totalMs`.
 * Errors with ModelTimeout, or with what came last.
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
