import type { Key } from 'lmdb'
import { encoded } from './key-encoder.ts'

export type Page = {
  /** How many parts the keys of one range have in common; by what follows ranges are merged. */
  shared: number
  descending: boolean
  skip: number
  limit: number
}

type Head = { keys: Iterator<Key>; key: Key; order: Buffer }

/** Some keys of several ordered ranges, as if these were one. */
export function* mergedKeys(
  ranges: readonly Iterable<Key>[],
  { shared, descending, skip, limit }: Page,
): Generator<Key> {
  const heads: Head[] = []
  const next = (keys: Iterator<Key>) => {
    const { done, value } = keys.next()
    if (done) return
    const { bytes, length } = encoded((value as Key[]).slice(shared) as Key)
    heads.push({ keys, key: value, order: Buffer.from(bytes.subarray(0, length)) })
  }
  try {
    for (const range of ranges) next(range[Symbol.iterator]())
    for (let n = 0; n < skip + limit && heads.length > 0; n++) {
      heads.sort((a, b) => Buffer.compare(a.order, b.order) * (descending ? -1 : 1))
      const [first] = heads.splice(0, 1)
      if (!first) return
      if (n >= skip) yield first.key
      next(first.keys)
    }
  } finally {
    // Else lmdb's reads stay open.
    for (const { keys } of heads) keys.return?.()
  }
}
