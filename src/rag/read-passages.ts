import type { UploadView } from '../../projections/uploads.ts'
import type { Passage } from '../ports/knowledge.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { datastoreKey } from '../security/vault.ts'
import { chunkIn, linesOf, placeIn } from './stored-chunks.ts'

export type DocumentPassage = Pick<Passage, 'chunk' | 'text' | 'place'>

/** Where a page ends: the chunks, as they were read at the time, and a byte between two of them. */
export type PassageCursor = { version: string; chunk: number; at: number }

/** `next`: the place to continue after; undefined: there are no more. */
export type PassagePage = { passages: DocumentPassage[]; next?: PassageCursor }

/** Stored bytes of a page; its last passage may exceed them. */
const pageBytes = 262_144

/** Tells the chunks of a document from those that a later release finds in it. */
const versionOf = (blob: string): string => blob.slice(0, 8)

/**
 * Reads a page of an upload's passages, in the order of the document. Only the bytes of the page
 * are opened. Undefined: the cursor is of other chunks, or does not lie between two of these.
 */
export const readPassages =
  ({ blobs }: { blobs: SealedBlobs }) =>
  async (
    { organization_id, datastore_id, status, chunks_blob: blob }: UploadView,
    { after, limit }: { after?: PassageCursor | undefined; limit: number },
  ): Promise<PassagePage | undefined> => {
    const version = versionOf(blob ?? '')
    if (after && after.version !== version) return undefined
    const stored = blobs.under(datastoreKey(organization_id, datastore_id))
    if (status !== 'completed' || blob === null) return { passages: [] }
    const { chunk: first, at } = after ?? { chunk: 0, at: 0 }
    const bytes = await stored.get(blob, { start: at, end: Number.MAX_SAFE_INTEGER })
    // The upload was removed meanwhile.
    if (!bytes) return { passages: [] }
    const passages: DocumentPassage[] = []
    let end: number | undefined
    for await (const line of linesOf(bytes)) {
      // Before the first chunk is the head of the blob, or the rest of the line that ends there.
      if (line.number === 0) {
        if (after && line.text !== '') return undefined
      } else {
        if (end !== undefined && (passages.length === limit || end > pageBytes)) {
          const chunk = first + passages.length
          return { passages, next: { version, chunk, at: at + end + 1 } }
        }
        const content = chunkIn(line.text)
        const chunk = first + passages.length
        passages.push({ chunk, text: content.text, place: placeIn(content) })
      }
      end = line.end
    }
    return end === undefined && after ? undefined : { passages }
  }

export type ReadPassages = ReturnType<typeof readPassages>
