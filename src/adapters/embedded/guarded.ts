import type { Database, Key, Transaction } from 'lmdb'
import type { PageGuard } from './page-guard.ts'
import { lastPartsOf } from './stored-key.ts'

type Range<K> = {
  start?: K
  end?: K
  reverse?: boolean
  limit?: number
  offset?: number
  transaction?: Transaction
}

/**
 * A database whose pages are looked at before lmdb reads them, so that damage is an error of the
 * caller and not the end of the process. Writes are not looked at: call `check` before the
 * transaction. `Written` is what the encoder takes, where that is not what is read.
 */
export const guarded = <V, K extends Key, Written = V>(
  db: Database<V, K>,
  name: string,
  guard: PageGuard,
) => {
  function* within<T>(range: Range<K>, values: boolean, items: Iterable<T>): Generator<T> {
    const { start, reverse = false, offset = 0, limit = Infinity } = range
    const cursor = guard.cursor(name, start, { reverse, values })
    const iterator = items[Symbol.iterator]()
    try {
      // Uncommitted writes are not in the file.
      for (let skipped = 0; skipped < offset; skipped++) if (!cursor.next()) break
      for (let taken = 0; taken < limit; taken++) {
        cursor.next()
        const { done, value } = iterator.next()
        if (done) return
        yield value
      }
    } finally {
      // Else lmdb's read stays open, and there are only so many.
      iterator.return?.()
    }
  }

  return {
    /** Looks at what a write of a key reads. @throws StoreDamaged */
    check: (key: K | 'last', options?: { removes: boolean }): void =>
      guard.check(name, key, options),
    get(key: K): V | undefined {
      guard.check(name, key)
      return db.get(key)
    },
    doesExist(key: K): boolean {
      guard.check(name, key)
      return db.doesExist(key)
    },
    getRange: (range: Range<K>) => within(range, true, db.getRange(range)),
    getKeys: (range: Range<K>) => within(range, false, db.getKeys(range)),
    /** The last parts of keys that end with a text. */
    getLastParts: (range: Range<K>) => within(range, false, lastPartsOf(db.getKeys(range))),
    /** Only within a commit, which tells what came of it. */
    put: (key: K, value: Written): void => {
      void db.put(key, value as unknown as V)
    },
    /** Only within a commit. */
    remove: (key: K): void => {
      void db.remove(key)
    },
    count: (): number => (db.getStats() as { entryCount: number }).entryCount,
  }
}

export type Guarded<V, K extends Key, Written = V> = ReturnType<typeof guarded<V, K, Written>>
