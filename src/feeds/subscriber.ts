import type { Position } from '../domain/event.ts'
import { type BatchResult, endOfFeed, type FeedBatch, type Item } from './item.ts'

/** Writes a batch; false where the last has not been taken yet, and nothing was written. */
export type WriteBatch = (batch: FeedBatch) => boolean

/** How many characters may wait for one subscriber. */
const mostWaiting = 1_048_576

/** Counts items that wait, of several subscribers once. */
export type WaitingItems = {
  add(items: readonly Item[], characters: number): void
  remove(items: readonly Item[]): void
}
const uncounted: WaitingItems = { add: () => undefined, remove: () => undefined }

/**
 * A subscriber of a feed: pushed items wait here, up to a bound, until they are pulled. Each change
 * goes to a thousand subscribers: a generator's step would allocate more than the rest, and a
 * promise for each write would live until the next change.
 */
export const subscriber = (
  from: Position,
  cut: () => void,
  most = mostWaiting,
  counted = uncounted,
) => {
  let waiting: (readonly Item[])[] = []
  let size = 0
  let over = false
  let take: ((result: BatchResult) => void) | undefined
  let write: WriteBatch | undefined

  const clear = () => {
    for (const items of waiting) counted.remove(items)
    waiting = []
    size = 0
  }
  const next = (): BatchResult | undefined => {
    if (over) return endOfFeed
    const [first] = waiting
    if (!first) return undefined
    const items = waiting.length > 1 ? waiting.flat() : first
    clear()
    return { value: { items } }
  }
  const give = (result: BatchResult) => {
    take?.(result)
    take = undefined
  }
  const wake = () => {
    const result = take && next()
    if (result) give(result)
  }
  const end = () => {
    over = true
    clear()
    wake()
  }
  /** Disconnects it: it can resume by position. */
  const disconnect = () => {
    end()
    cut()
  }

  return {
    end,
    /** Whether there are items that it has not taken. */
    lags: (): boolean => waiting.length > 0,
    disconnect,

    /** Takes items after `from`. A subscriber that is too slow is disconnected. */
    push(items: readonly Item[], characters: number): void {
      const first = items[0]?.position ?? from
      const later = first > from ? items : items.filter(({ position }) => position > from)
      if (over || later.length === 0) return
      if (take && write?.({ items: later })) return
      if (size + characters > most) {
        disconnect()
        return
      }
      if (take) {
        give({ value: { items: later } })
        return
      }
      size += characters
      waiting.push(later)
      counted.add(later, characters)
    },

    /** While a `next` is pending, pushed items are written directly, and it stays pending. */
    pushes(to: WriteBatch): void {
      write = to
    },

    /** As it was pushed, or what has waited together; done at the end. One at a time. */
    next: (): Promise<BatchResult> =>
      new Promise((resolve) => {
        take = resolve
        wake()
      }),
  }
}
export type Subscriber = ReturnType<typeof subscriber>
