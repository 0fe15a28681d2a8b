import type { Clock } from '../ports/clock.ts'
import { type EventStore, StoreUnavailable } from '../ports/event-store.ts'

/** An event store that remembers since when it cannot be written. */
export const watchedAppends = (store: EventStore, { now }: Pick<Clock, 'now'>) => {
  let failing: Date | undefined
  const append: EventStore['append'] = (stream, expected, events) => {
    const began = now()
    return store.append(stream, expected, events).then(
      (appended) => {
        failing = undefined
        return appended
      },
      (error) => {
        if (error instanceof StoreUnavailable) failing ??= began
        throw error
      },
    )
  }
  return {
    store: { ...store, append },
    /** When the first append failed after the last one that was stored; undefined: all is well. */
    failingSince: (): Date | undefined => failing,
  }
}
