import type { Position } from '../domain/event.ts'
import type { Item } from './item.ts'

/** How many characters may wait for one subscriber. */
const mostWaiting = 1_048_576

/** A subscriber of a feed: pushed items wait here, up to a bound, until they are pulled. */
export const subscriber = (from: Position, cut: () => void, most = mostWaiting) => {
  let waiting: (readonly Item[])[] = []
  let size = 0
  let over = false
  let wake: () => void = () => undefined

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
      if (over) return
      size += characters
      if (size > most) {
        end()
        cut()
        return
      }
      const first = items[0]?.position ?? from
      waiting.push(first > from ? items : items.filter(({ position }) => position > from))
      wake()
    },

    /** In batches, until the end: as they were pushed, or those that have waited together. */
    async *follow(): AsyncGenerator<readonly Item[]> {
      while (!over) {
        const [first = []] = waiting
        const items = waiting.length > 1 ? waiting.flat() : first
        waiting = []
        size = 0
        if (items.length > 0) yield items
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    },
  }
}
export type Subscriber = ReturnType<typeof subscriber>
