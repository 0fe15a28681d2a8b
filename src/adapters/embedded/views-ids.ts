import { lastPartOf } from './stored-key.ts'
import type { ViewsDatabase } from './views-database.ts'
import { wholeKeyspace } from './views-keys.ts'

/** Such ids sort as strings as they do as keys. */
const plain = /^[ -~]+$/
/** Sorts behind every id: of such a keyspace it is not known. */
const unknown = '\u{10ffff}'

/**
 * The last id of each keyspace of documents, as keys have it. Ids begin with their time, so new
 * documents come after it, and are not looked up.
 */
export const idsBehind = (db: ViewsDatabase) => {
  const last = new Map<number, string>()

  const look = (keyspace: number): string => {
    const { start, end } = wholeKeyspace(keyspace)
    const [key] = db.getKeys({ start: end, end: start, reverse: true, limit: 1 })
    const id = key === undefined ? '' : lastPartOf(key)
    return id === '' || plain.test(id) ? id : unknown
  }

  const lastOf = (keyspace: number): string => {
    const known = last.get(keyspace)
    if (known !== undefined) return known
    const lastId = look(keyspace)
    last.set(keyspace, lastId)
    return lastId
  }

  return {
    /** Whether no document of a keyspace is as far back as this id, as keys have it. */
    all(keyspace: number, turned: string): boolean {
      return turned > lastOf(keyspace) && plain.test(turned)
    },

    /** A document has been written. */
    add(keyspace: number, turned: string): void {
      if (turned > lastOf(keyspace)) last.set(keyspace, plain.test(turned) ? turned : unknown)
    },
  }
}
