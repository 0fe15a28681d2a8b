import { type Observable, Subscriber } from 'rxjs'

type Taking<T> = {
  next(value: T): void
  error?(error: unknown): void
  complete?(): void
}

/**
 * Subscribes to a source for as long as another subscription lasts, as an operator would, also when
 * that ends in the middle of a synchronous burst. Signals without a handler, and errors thrown by
 * handlers, go to the other subscription.
 */
export const relayed = <T>(source: Observable<T>, to: Subscriber<never>, take: Taking<T>): void => {
  if (to.closed) return
  const inner = new Subscriber<T>({
    next(value) {
      try {
        take.next(value)
      } catch (error) {
        to.error(error)
      }
    },
    error(error: unknown) {
      if (take.error) take.error(error)
      else to.error(error)
    },
    complete() {
      try {
        if (take.complete) take.complete()
        else to.complete()
      } catch (error) {
        to.error(error)
      }
    },
  })
  to.add(inner)
  source.subscribe(inner)
}
