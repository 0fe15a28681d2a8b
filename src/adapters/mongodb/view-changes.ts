import type { Document, DocumentChange } from '../../ports/views.ts'
import { toStored } from './documents.ts'

/** A change as the journal holds it: a document as MongoDB takes it, or null to remove it. */
export type StoredChange = { id: string; document: Document | null }

/** Far below MongoDB's 16 MiB a document. */
const partBytes = 4 * 1024 * 1024

/** Roughly the size of a value in BSON. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return 8 + Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 16
  let sum = 16
  for (const [name, inner] of Object.entries(value)) sum += 8 + name.length + sizeOf(inner)
  return sum
}

/** The last change of each document, in order, as stored, in parts of a few megabytes. */
export const partsOf = (changes: readonly DocumentChange[]): StoredChange[][] => {
  const last = new Map<string, Document | undefined>()
  for (const { id, document } of changes) {
    last.delete(id)
    last.set(id, document)
  }
  const parts: StoredChange[][] = [[]]
  let filled = 0
  for (const [id, document] of last) {
    const change = { id, document: document ? toStored(document) : null }
    filled += sizeOf(change)
    if (filled > partBytes) {
      parts.push([])
      filled = sizeOf(change)
    }
    parts.at(-1)?.push(change)
  }
  return parts
}
