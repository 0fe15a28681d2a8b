import { type Document, type DocumentChange, DocumentRefused } from '../ports/views.ts'

/** MongoDB nests 100 levels, the journal's own among them; lmdb's encoder ends at some 2,000. */
const mostLevels = 64
/** MongoDB's documents have 16 MiB. */
const mostBytes = 12 * 1024 * 1024

class Unstorable extends Error {
  override readonly name = 'Unstorable'
}

/**
 * Roughly the size of a value in BSON, which is more than that in msgpack.
 * @throws Unstorable
 */
export const sizeOf = (value: unknown, levels = 0): number => {
  if (typeof value === 'string') return 8 + value.length
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
      throw new Unstorable(`it has a ${typeof value}`)
    return 16
  }
  if (levels >= mostLevels) throw new Unstorable(`more than ${mostLevels} levels`)
  let sum = 16
  if (Array.isArray(value)) for (const element of value) sum += 16 + sizeOf(element, levels + 1)
  else {
    const document = value as Document
    for (const name in document) sum += 8 + name.length + sizeOf(document[name], levels + 1)
  }
  return sum
}

/**
 * The size of a document, roughly, in bytes; of a removed one 0.
 * @throws DocumentRefused when a store could not hold it
 */
export const storableSize = (view: string, id: string, document: Document | undefined): number => {
  if (!document) return 0
  try {
    const bytes = sizeOf(document)
    if (bytes > mostBytes) throw new Unstorable(`${bytes} bytes, more than ${mostBytes}`)
    return bytes
  } catch (error) {
    if (error instanceof Unstorable) throw new DocumentRefused(view, id, error.message)
    throw error
  }
}

/** The size of all documents, roughly, in bytes. @throws DocumentRefused */
export const requireStorable = (view: string, changes: readonly DocumentChange[]): number => {
  let bytes = 0
  for (const { id, document } of changes) bytes += storableSize(view, id, document)
  return bytes
}
