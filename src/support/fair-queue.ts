/** An item that may begin; `leave` gives its place to the next. */
export type Entered<Item> = { item: Item; leave(): void }

/**
 * Who begins next, for a number of places: owners take turns, and the items of one owner begin in
 * the order they were added. Where there is more than one place, one owner never holds all of them
 * (at most `mostOfOne`), so that another's item waits for nobody's slow work.
 */
export const fairQueue = <Item>(places: number, mostOfOne = Math.max(1, places - 1)) => {
  /** In the order of turns. */
  const waiting = new Map<string, Set<Item>>()
  const held = new Map<string, number>()
  let taken = 0

  const enter = (owner: string): void => {
    taken++
    held.set(owner, (held.get(owner) ?? 0) + 1)
  }

  const leave = (owner: string): void => {
    taken--
    const left = (held.get(owner) ?? 1) - 1
    if (left > 0) held.set(owner, left)
    else held.delete(owner)
  }

  return {
    /** An item that waits already keeps its place. */
    add(owner: string, item: Item): void {
      const items = waiting.get(owner) ?? new Set()
      waiting.set(owner, items.add(item))
    },
    /** The next item that may begin; undefined: none may now. */
    next(): Entered<Item> | undefined {
      if (taken >= places) return undefined
      for (const [owner, items] of waiting) {
        if ((held.get(owner) ?? 0) >= mostOfOne) continue
        const [item] = items
        waiting.delete(owner)
        if (item === undefined) continue
        items.delete(item)
        if (items.size > 0) waiting.set(owner, items)
        enter(owner)
        let left = false
        return {
          item,
          leave() {
            if (!left) leave(owner)
            left = true
          },
        }
      }
      return undefined
    },
    /** How many wait. */
    length: (): number => [...waiting.values()].reduce((sum, own) => sum + own.size, 0),
    /** Nothing waits any more; answers what did. */
    clear(): Item[] {
      const items = [...waiting.values()].flatMap((own) => [...own])
      waiting.clear()
      return items
    },
  }
}
