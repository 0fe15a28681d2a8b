import type { Key } from 'lmdb'
import { fromBufferKey } from 'ordered-binary'
import { type Encoded, ordered } from './key-encoder.ts'
import { countOf, keyAt, keyBytesAt, keyFrom, type Page } from './page.ts'

/** A page on the way to a leaf, and the node that is followed. */
export type Step = { page: Page; at: number }

/** What a damaged page held: the keys of a database from one on, to before another. */
export type LostKeys = { name: string; from?: Key | undefined; below?: Key | undefined }

export const keyOf = ({ page, at }: Step): Key => {
  const { from, to } = keyAt(page, at)
  return fromBufferKey(page.bytes.subarray(from, to)) as Key
}

/** The keys below the last node of a path. */
export const lostBelow = (name: string, path: readonly Step[]): LostKeys => {
  const from = path.findLast(({ at }) => at > 0)
  const below = path.findLast(({ page, at }) => at + 1 < countOf(page))
  return {
    name,
    from: from && keyOf(from),
    below: below && keyOf({ page: below.page, at: below.at + 1 }),
  }
}

/** Below 0 when a key of a page sorts before another key. */
const orderedAt = (page: Page, at: number, key: Encoded): number => {
  const from = keyFrom(page, at)
  return ordered(page.bytes, from, from + keyBytesAt(page, from), key)
}

/** The place of the first key of a page that is not below a key. */
export const placeOf = (page: Page, key: Encoded, first: number): number => {
  let low = first
  let high = countOf(page)
  while (low < high) {
    const middle = (low + high) >> 1
    if (orderedAt(page, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

export const holds = (page: Page, at: number, key: Encoded): boolean =>
  at < countOf(page) && orderedAt(page, at, key) === 0

const bytesAt = ({ page, at }: Step): Buffer => {
  const { from, to } = keyAt(page, at)
  return Buffer.from(page.bytes.subarray(from, to))
}

const beginning = Buffer.alloc(0)

/** The keys that are in the leaf of a path, or belong there: the branches above say so. */
export const rangeOf = (path: readonly Step[]): { low: Buffer; high: Buffer | undefined } => {
  let low: Buffer = beginning
  let high: Buffer | undefined
  for (let n = path.length - 2; n >= 0; n--) {
    const { page, at } = path[n] as Step
    if (low === beginning && at > 0) low = bytesAt({ page, at })
    if (!high && at + 1 < countOf(page)) high = bytesAt({ page, at: at + 1 })
  }
  return { low, high }
}
