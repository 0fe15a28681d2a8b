import { timeOf } from '../domain/event.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventStore, type RecordedEvent, START } from '../ports/event-store.ts'
import { isoTime } from '../support/iso-time.ts'

/**
 * When events are appended: by the clock, and never earlier than an event that this process has
 * appended or read. So times in the log do not go back, also when the clock does. Where several
 * processes append, one may store an event behind a later one of another that it has not read yet.
 */
export const appendTimes = ({ now }: Pick<Clock, 'now'>) => {
  let latest = Number.NEGATIVE_INFINITY
  const underWay = new Set<Promise<unknown>>()

  const raise = (time: number): void => {
    if (time > latest) latest = time
  }

  const seen = (events: readonly RecordedEvent[]): void => {
    // What was decided here was stamped here.
    for (const event of events) if (!event.decided) raise(timeOf(event) ?? latest)
  }

  return {
    /** The time of events that are appended now, in ISO 8601. */
    stamp(): string {
      raise(now().getTime())
      return isoTime(latest)
    },

    /** An append of events that have just been stamped; to be told when it is over. */
    began: (append: Promise<unknown>): void => {
      underWay.add(append)
    },
    ended: (append: Promise<unknown>): void => {
      underWay.delete(append)
    },

    /**
     * Resolves once no event of this process can still be stored with a time up to this one, in
     * milliseconds since 1970. Says nothing of a time that has not come.
     */
    async passed(time: number): Promise<void> {
      if (time <= Math.max(now().getTime(), latest)) raise(Math.floor(time) + 1)
      await Promise.allSettled(underWay)
    },

    /** How far the latest event is ahead of the clock, in milliseconds; 0: it is not. */
    aheadMs: (): number => Math.max(0, latest - now().getTime()),

    /** Takes note of the last event that is stored. @throws StoreUnavailable */
    async resume({ head, at }: Pick<EventStore, 'head' | 'at'>): Promise<void> {
      const last = await head()
      if (last === START) return
      const only = (async function* () {
        yield [last]
      })()
      for await (const events of at(only)) seen(events)
    },

    /** The store, taking note of the times of what is read of it. */
    noting: (store: EventStore): EventStore => ({
      ...store,
      async *read(...args) {
        for await (const events of store.read(...args)) {
          seen(events)
          yield events
        }
      },
      async *feed(...args) {
        for await (const batch of store.feed(...args)) {
          seen(batch.events)
          yield batch
        }
      },
    }),
  }
}

export type AppendTimes = ReturnType<typeof appendTimes>
