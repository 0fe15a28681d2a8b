import { Observable, type Subscription, takeWhile } from 'rxjs'

/**
 * What `next` gives, one after the other, until it gives none. Each is asked for when the one
 * before has completed; those that complete at once take no stack, however many they are. `next`
 * must not throw.
 */
export const oneByOne = <T>(next: () => Observable<T> | undefined): Observable<T> =>
  new Observable((subscriber) => {
    let inner: Subscription | undefined
    let starting = false
    let completed = false
    const go = (): void => {
      completed = true
      if (starting) return
      starting = true
      while (completed && !subscriber.closed) {
        completed = false
        const source = next()
        if (!source) {
          subscriber.complete()
          return
        }
        inner = source.pipe(takeWhile(() => !subscriber.closed)).subscribe({
          next: (value) => subscriber.next(value),
          error: (error) => subscriber.error(error),
          complete: go,
        })
      }
      starting = false
    }
    go()
    return () => inner?.unsubscribe()
  })
