import { Observable } from 'rxjs'
import {
  ContextTooLong,
  type Model,
  ModelMisconfigured,
  ModelTimeout,
  ModelUnavailable,
} from '../../ports/model.ts'
import { relayed } from '../../support/relayed.ts'

type CircuitOptions = {
  /** Failed calls in a row that open it. */
  failures?: number
  /** How long it stays open before a trial call. */
  openMs?: number
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

/** Another provider may answer the same request. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ModelUnavailable || error instanceof ModelTimeout

/** The provider works, and refuses this request. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ContextTooLong ||
  error instanceof ModelMisconfigured ||
  (error instanceof ModelUnavailable && error.isBusy)

/** Failures of the provider, not of the requests: one tenant's must not close it to others. */
const isFailure = (error: unknown): boolean => isOutage(error) && !isRefusal(error)

/**
 * A circuit breaker: while it is open, calls fail at once. After that, one call at a time is let
 * through as a trial; if it succeeds, the circuit closes. So it does if the trial is refused, until
 * the next failure.
 */
export const circuit = (options: CircuitOptions = {}) => {
  const { failures = 5, openMs = 10_000, now = () => performance.now() } = options
  let failed = 0
  let openUntil = 0
  let trying = false

  const isOpen = () => failed >= failures && (trying || now() < openUntil)

  return <T>(call: () => Observable<T>): Observable<T> =>
    new Observable((subscriber) => {
      if (isOpen()) throw new ModelUnavailable('the model provider keeps failing')
      if (failed >= failures) {
        trying = true
        subscriber.add(() => {
          trying = false
        })
      }
      relayed(call(), subscriber, {
        next: (value) => subscriber.next(value),
        complete() {
          failed = 0
          subscriber.complete()
        },
        error(error) {
          if (isFailure(error)) {
            failed++
            openUntil = now() + openMs
          } else if (isRefusal(error)) failed = Math.min(failed, failures - 1)
          subscriber.error(error)
        },
      })
    })
}

export const withCircuit = (model: Model, options?: CircuitOptions): Model => {
  const guarded = circuit(options)
  return { stream: (request, isBuffered) => guarded(() => model.stream(request, isBuffered)) }
}
