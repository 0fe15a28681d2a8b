import { defer, finalize, type Observable, tap, throwError } from 'rxjs'
import { type Model, ModelTimeout, ModelUnavailable } from '../../ports/model.ts'

type CircuitOptions = {
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
export const circuit = ({ failures = 5, openMs = 10_000, now = Date.now }: CircuitOptions = {}) => {
  let failed = 0
  let openUntil = 0
  let trying = false

  const isOpen = () => failed >= failures && (trying || now() < openUntil)

  return <T>(call: () => Observable<T>): Observable<T> =>
    defer(() => {
      if (isOpen())
        return throwError(() => new ModelUnavailable('the model provider keeps failing'))
      const trial = failed >= failures
      trying = trial
      return call().pipe(
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
    })
}

export const withCircuit = (model: Model, options?: CircuitOptions): Model => {
  const guarded = circuit(options)
  return { stream: (request) => guarded(() => model.stream(request)) }
}
