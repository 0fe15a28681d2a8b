/** An item that may begin; `leave` gives its place to the next. */
export type Entered<Item> = { item: Item; leave(): void }

/**
 * Who begins next, for a number of places: owners take turns, and the items of one owner begin in
 * the order they were added. An item takes one place, or as many as its size. Where there is more
 * than one place, one owner never holds all of them (at most `mostOfOne`), so that another's item
 * waits for nobody's slow work.
 */
export const fairQueue = <Item>(places: number, mostOfOne = Math.max(1, places - 1)) => {
  /** Sizes of items by owner, in the order of turns. */
  const waiting = new Map<string, Map<Item, number>>()
  const held = new Map<string, number>()
  let total = 0

  const enter = (owner: string, size: number): void => {
    total += size
    held.set(owner, (held.get(owner) ?? 0) + size)
  }

  const leave = (owner: string, size: number): void => {
    total -= size
    const left = (held.get(owner) ?? size) - size
    if (left > 0) held.set(owner, left)
    else held.delete(owner)
  }

  return {
    /** An item that waits already keeps its place. A larger one takes all that one owner may. */
    add(owner: string, item: Item, size = 1): void {
      const items = waiting.get(owner) ?? new Map()
      waiting.set(owner, items.set(item, Math.min(size, mostOfOne)))
    },
    /** The next item that may begin; undefined: none may now. A smaller item never overtakes. */
    next(): Entered<Item> | undefined {
      if (total >= places) return undefined
      for (const [owner, items] of waiting) {
        const [first] = items
        if (!first) continue
        const [item, size] = first
        if ((held.get(owner) ?? 0) + size > mostOfOne) continue
        if (total + size > places) return undefined
        waiting.delete(owner)
        items.delete(item)
        if (items.size > 0) waiting.set(owner, items)
        enter(owner, size)
        let left = false
        return {
          item,
          leave() {
            if (!left) leave(owner, size)
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
      const items = [...waiting.values()].flatMap((own) => [...own.keys()])
      waiting.clear()
      return items
    },
  }
}

/** Runs work in turns of its owners: so much at once as there are places. */
export const fairTurns = (places: number) => {
  const queue = fairQueue<() => Promise<void>>(places)
  const pump = (): void => {
    for (let entered = queue.next(); entered; entered = queue.next()) {
      const { item, leave } = entered
      void item().finally(() => {
        leave()
        pump()
      })
    }
  }
  return <T>(owner: string, work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      queue.add(owner, () => work().then(resolve, reject))
      pump()
    })
}
