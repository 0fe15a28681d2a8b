import type { Position } from '../domain/event.ts'
import { ended, type FeedBatch, type Item, type Told } from './item.ts'

/** Writes a batch; false where the last has not been taken yet, and nothing was written. */
export type WriteBatch = (batch: FeedBatch) => boolean

/** How many characters may wait for one subscriber. */
const mostWaiting = 1_048_576

/**
 * A subscriber of a feed: pushed items wait here, up to a bound, until they are pulled. It is not a
 * generator: a thousand are told of each change, and a generator's step allocates more than the rest. Nor is
 * a promise made for what can be written at once: a thousand of them would live until the next change.
 */
export const subscriber = (from: Position, cut: () => void, most = mostWaiting) => {
  let waiting: (readonly Item[])[] = []
  let size = 0
  let over = false
  let take: ((told: Told) => void) | undefined
  let write: WriteBatch | undefined

  const next = (): Told | undefined => {
    if (over) return ended
    const [first] = waiting
    if (!first) return undefined
    const items = waiting.length > 1 ? waiting.flat() : first
    waiting = []
    size = 0
    return { value: { items } }
  }
  const wake = () => {
    if (!take) return
    const told = next()
    if (!told) return
    take(told)
    take = undefined
  }
  const end = () => {
    over = true
    waiting = []
    wake()
  }

  return {
    end,

    /**
     * Takes items after `from`. A subscriber that is too slow is disconnected, and can resume by
     * position.
     */
    push(items: readonly Item[], characters: number): void {
      const first = items[0]?.position ?? from
      const later = first > from ? items : items.filter(({ position }) => position > from)
      if (over || later.length === 0) return
      if (take && write?.({ items: later })) return
      size += characters
      if (size > most) {
        end()
        cut()
        return
      }
      waiting.push(later)
      wake()
    },

    /** While `next` is waited for, what is pushed is written, and `next` is waited for on. */
    pushes(to: WriteBatch): void {
      write = to
    },

    /** As it was pushed, or what has waited together; done at the end. One at a time. */
    next: (): Promise<Told> =>
      new Promise((resolve) => {
        take = resolve
        wake()
      }),
  }
}
export type Subscriber = ReturnType<typeof subscriber>
