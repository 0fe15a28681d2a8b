import { keyBytesAt, keyFrom, type Page } from './page.ts'

/** Below 0 when the bytes from one place to another sort before a key; faster than Buffer's. */
export const ordered = (bytes: Buffer, from: number, to: number, key: Buffer): number => {
  const length = Math.min(to - from, key.length)
  for (let n = 0; n < length; n++) {
    const difference = (bytes[from + n] ?? 0) - (key[n] ?? 0)
    if (difference !== 0) return difference
  }
  return to - from - key.length
}

/** Below 0 when a key of a page sorts before another key. */
export const orderedAt = (page: Page, at: number, key: Buffer): number => {
  const from = keyFrom(page, at)
  return ordered(page.bytes, from, from + keyBytesAt(page, from), key)
}

/**
 * Two neighbouring keys of a tree: what sorts between them is not there. Keys that are written in
 * their order often fall between the same two. Allocates nothing.
 */
export const keyGap = () => {
  let tree: string | undefined
  let low: Page | undefined
  let lowAt = 0
  let high: Page | undefined
  let highAt = 0
  return {
    /** Everything, until it is narrowed. */
    clear(): void {
      tree = undefined
      low = undefined
      high = undefined
    },
    /** A key of a page that does not sort behind the gap. */
    above(page: Page, at: number): void {
      low = page
      lowAt = at
    },
    /** A key of a page that does not sort before the gap. */
    below(page: Page, at: number): void {
      high = page
      highAt = at
    },
    /** It is narrowed as far as it goes. */
    close(name: string): void {
      tree = name
    },
    has: (name: string, key: Buffer): boolean =>
      tree === name &&
      (!low || orderedAt(low, lowAt, key) < 0) &&
      (!high || orderedAt(high, highAt, key) > 0),
  }
}
