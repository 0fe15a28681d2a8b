/**
 * A map for what comes and goes all the time and lives long itself. A `Map` in V8's old generation is given a new table
 * there every few changes, and the table before it holds what was in it until the next full collection: so
 * whatever passes through becomes old, with all that it leads to. Here that is true of keys alone: values
 * are in slots that are emptied.
 */
export const slotMap = <K, V extends object>() => {
  const places = new Map<K, number>()
  const slots: (V | undefined)[] = []
  const free: number[] = []

  return {
    has: (key: K): boolean => places.has(key),
    get(key: K): V | undefined {
      const place = places.get(key)
      return place === undefined ? undefined : slots[place]
    },
    set(key: K, value: V): void {
      const place = places.get(key) ?? free.pop() ?? slots.length
      places.set(key, place)
      slots[place] = value
    },
    delete(key: K): void {
      const place = places.get(key)
      if (place === undefined) return
      places.delete(key)
      slots[place] = undefined
      free.push(place)
    },
    /** In any order. */
    all: (): V[] => slots.filter((value) => value !== undefined),
    get size(): number {
      return places.size
    },
  }
}
