import { defer, finalize, tap, throwError } from 'rxjs'
import { type Model, ModelTimeout, ModelUnavailable } from '../../ports/model.ts'

type Options = {
  /** Failed calls in a row that open it. */
  failures?: number
  /** How long it then stays open before one call is let through to try. */
  openMs?: number
  now?: () => number
}

/** Failures that say something of the provider, not of the request. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ModelUnavailable || error instanceof ModelTimeout

/**
 * Spares a provider that keeps failing, and everyone who would wait for it: while the circuit is
 * open a call fails at once. One call at a time is then let through; if it ends well, all are.
 */
export const withCircuit = (
  model: Model,
  { failures = 5, openMs = 10_000, now = Date.now }: Options = {},
): Model => {
  let failed = 0
  let openUntil = 0
  let trying = false

  const isOpen = () => failed >= failures && (trying || now() < openUntil)

  return {
    stream: (request) =>
      defer(() => {
        if (isOpen())
          return throwError(() => new ModelUnavailable('the model provider keeps failing'))
        const trial = failed >= failures
        trying = trial
        return model.stream(request).pipe(
          tap({
            complete: () => {
              failed = 0
            },
            error: (error: unknown) => {
              if (!isOutage(error)) return
              failed++
              openUntil = now() + openMs
            },
          }),
          finalize(() => {
            if (trial) trying = false
          }),
        )
      }),
  }
}
