import { latest, type Position } from '../domain/event.ts'
import { type EventReads, START } from '../ports/event-store.ts'

type Options = {
  store: EventReads
  /** How long events gather, in milliseconds, where nobody asks for them. */
  everyMs: number
}

/**
 * A log whose feed rests between any two reaches for its end, so that events come in large batches.
 * Up to a position that somebody waits for it goes on at once.
 */
export const throttled = ({ store, everyMs }: Options) => {
  let wanted = START
  /** How far a feed that rests has come, by what wakes it. */
  const resting = new Map<() => void, Position>()

  const rest = (position: Position, signal: AbortSignal | undefined): Promise<void> => {
    if (wanted > position || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        resting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, everyMs).unref()
      signal?.addEventListener('abort', wake)
      resting.set(wake, position)
    })
  }

  const feed: EventReads['feed'] = async function* (after, signal) {
    let end = await store.head()
    for await (const batch of store.feed(after, signal)) {
      yield batch
      if (batch.position < end) continue
      await rest(batch.position, signal)
      end = await store.head().catch(() => batch.position)
    }
  }

  return {
    store: { ...store, feed },
    /** Goes on at once until it has come to this position. */
    hurry(position: Position): void {
      wanted = latest(wanted, position)
      for (const [wake, reached] of [...resting]) if (reached < wanted) wake()
    },
  }
}
