import type { Item } from './item.ts'

/** How many characters may wait for one consumer. */
const mostWaiting = 1_048_576

/** One who follows a feed: what is pushed waits here, up to a bound, and is pulled. */
export const subscriber = (from: number, cut: () => void, most = mostWaiting) => {
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

    /** Items behind `from`; one who is too slow is cut off, and goes on by position. */
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

    /** In batches, until the end. */
    async *follow(): AsyncGenerator<readonly Item[]> {
      while (!over) {
        const items = waiting.flat()
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
