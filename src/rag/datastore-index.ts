import { setImmediate as turn } from 'node:timers/promises'
import type { UploadView } from '../../projections/uploads.ts'
import type { Blobs } from '../ports/blobs.ts'
import { bm25 } from './bm25.ts'
import { chunkIn, linesOf } from './stored-chunks.ts'

/** Where a chunk is stored: which upload, which line of its blob, and that line's bytes. */
export type Located = { upload: UploadView; chunk: number; start: number; end: number }

export type Ranked = Located & { score: number }

/** How long other work may have to wait for indexing, in milliseconds. */
const sliceMs = 8

/**
 * The chunks of a DataStore as an index of their words; the chunks themselves stay in the blob
 * store. Built in slices, so that a large DataStore does not keep anybody waiting.
 */
export const datastoreIndex = (blobs: Blobs) => {
  const words = bm25()
  const located: Located[] = []
  const known = new Set<string>()

  const add = async (upload: UploadView): Promise<void> => {
    known.add(upload.upload_id)
    const bytes = upload.chunks_blob ? await blobs.get(upload.chunks_blob) : undefined
    if (!bytes) return
    let since = performance.now()
    for await (const { number, text, start, end } of linesOf(bytes)) {
      if (number === 0) continue
      const { headings, text: said } = chunkIn(text)
      words.add([...headings, said].join('\n'))
      located.push({ upload, chunk: number - 1, start, end })
      if (performance.now() - since < sliceMs) continue
      await turn()
      since = performance.now()
    }
  }

  return {
    get size(): number {
      return words.size + 48 * located.length + 500 * known.size
    },
    /** Whether all that it knows is still there. */
    isPartOf(uploads: readonly UploadView[]): boolean {
      const ids = new Set(uploads.map(({ upload_id }) => upload_id))
      return [...known].every((id) => ids.has(id))
    },
    async addAll(uploads: readonly UploadView[]): Promise<void> {
      for (const upload of uploads) if (!known.has(upload.upload_id)) await add(upload)
    },
    /** The best first. */
    search: (query: string, limit: number): Ranked[] =>
      words.search(query, limit).flatMap(({ document, score }) => {
        const found = located[document]
        return found ? [{ ...found, score }] : []
      }),
  }
}

export type DatastoreIndex = ReturnType<typeof datastoreIndex>
