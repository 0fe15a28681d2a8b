import type { Holder } from '../support/buffer-budget.ts'
import type { Item } from './item.ts'
import type { WaitingItems } from './subscriber.ts'

/** Bytes of a character that waits: as text, and encoded for those that have begun to take it. */
const characterBytes = 2

/** Items that wait for the subscribers of a read model. They share them: each is counted once. */
export const waitingItems = (holder: Holder): WaitingItems => {
  const counts = new Map<readonly Item[], { subscribers: number; bytes: number }>()
  let held = 0
  const hold = (bytes: number) => {
    held += bytes
    holder.hold(held)
  }
  return {
    add(items, characters) {
      const count = counts.get(items)
      if (count) {
        count.subscribers++
        return
      }
      const bytes = characterBytes * characters
      counts.set(items, { subscribers: 1, bytes })
      hold(bytes)
    },
    remove(items) {
      const count = counts.get(items)
      if (!count || --count.subscribers > 0) return
      counts.delete(items)
      hold(-count.bytes)
    },
  }
}
