import { LRUCache } from 'lru-cache'
import type { Document } from '../../ports/views.ts'

const maxBytes = 64 * 1024 * 1024
const maxEntryBytes = 64 * 1024

/** About what a value takes in memory, in bytes. */
const weight = (value: unknown): number => {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 32
  for (const inner of Object.values(value)) sum += 16 + weight(inner)
  return sum
}

/** What takes the place of a document that is known not to be there. */
const absent: Document = Object.freeze({})

/** Documents as they are stored, or known not to be, within a bound of memory. */
export const viewsCache = () => {
  const kept = new LRUCache<string, Document>({
    maxSize: maxBytes,
    maxEntrySize: maxEntryBytes,
    sizeCalculation: weight,
  })
  const nameOf = (keyspace: number, id: string) => `${keyspace}/${id}`
  return {
    get(keyspace: number, id: string, read: () => Document | undefined): Document | undefined {
      const name = nameOf(keyspace, id)
      const known = kept.get(name)
      if (known) return known === absent ? undefined : known
      const document = read()
      kept.set(name, document ?? absent)
      return document
    },
    set: (keyspace: number, id: string, document: Document | undefined) => {
      kept.set(nameOf(keyspace, id), document ?? absent)
    },
  }
}
