import type { Document } from '../../ports/views.ts'

/** The size of half of the cache, in bytes of memory. */
const maxWeight = 32 * 1024 * 1024
const maxDocumentWeight = 64 * 1024

/** Roughly the memory of a value, in bytes. */
const weight = (value: unknown): number => {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 32
  if (Array.isArray(value)) for (const element of value) sum += 16 + weight(element)
  else {
    const document = value as Document
    for (const name in document) sum += 16 + weight(document[name])
  }
  return sum
}

/** Marks a document that is known not to exist: so one look in a map tells what is not known. */
export const absent: Document = Object.freeze({})

export const presentOf = (document: Document): Document | undefined =>
  document === absent ? undefined : document

/** Documents by keyspace, then by id. */
type Half = Map<number, Map<string, Document>>

const inside = (half: Half, keyspace: number): Map<string, Document> => {
  const known = half.get(keyspace) ?? new Map<string, Document>()
  if (known.size === 0) half.set(keyspace, known)
  return known
}

/**
 * Stored documents, and ids known to have none, within a bound of memory. When the younger half is
 * full, the older half is dropped, except for documents used since: cheaper than an exact order of
 * use.
 */
export const viewsCache = () => {
  let young: Half = new Map()
  let old: Half = new Map()
  let filled = 0

  const keep = (keyspace: number, id: string, document: Document) => {
    const added = weight(document)
    if (added > maxDocumentWeight) {
      young.get(keyspace)?.delete(id)
      old.get(keyspace)?.delete(id)
      return
    }
    inside(young, keyspace).set(id, document)
    filled += added + id.length
    if (filled < maxWeight) return
    old = young
    young = new Map()
    filled = 0
  }

  return {
    /** Undefined: not known; `absent`: known to be none. */
    get(keyspace: number, id: string): Document | undefined {
      const known = young.get(keyspace)?.get(id)
      if (known) return known
      const older = old.get(keyspace)?.get(id)
      if (older) keep(keyspace, id, older)
      return older
    },
    set: (keyspace: number, id: string, document: Document | undefined) =>
      keep(keyspace, id, document ?? absent),
    /** For what is known already; nothing else is kept. */
    replace(keyspace: number, id: string, document: Document | undefined): void {
      if (young.get(keyspace)?.has(id) || old.get(keyspace)?.has(id))
        keep(keyspace, id, document ?? absent)
    },
  }
}
