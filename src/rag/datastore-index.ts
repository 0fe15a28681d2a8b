import type { UploadView } from '../../projections/uploads.ts'
import type { Blobs } from '../ports/blobs.ts'
import { bm25 } from '../support/bm25.ts'
import { slices } from './slices.ts'
import { chunkIn, linesOf, saidIn } from './stored-chunks.ts'
import { likeness, type Vectors, vectorsIn } from './vectors.ts'

/** Where a chunk is stored: which upload, which line of its blob, and that line's bytes. */
export type Located = { upload: UploadView; chunk: number; start: number; end: number }

export type Ranked = Located & { score: number }

/** An upload: its latest view, where its chunks begin, how many they are, and what they mean. */
type Known = { upload: UploadView; first: number; count: number; vectors?: Vectors }

const byScore = (left: Ranked, right: Ranked) => right.score - left.score

/**
 * An index of the words of a DataStore's chunks, and of their vectors if they have any. The chunks
 * themselves stay in the blob store. Built and searched in slices, so that a large DataStore does
 * not delay other work.
 */
export const datastoreIndex = (blobs: Blobs) => {
  const words = bm25()
  const located: Located[] = []
  const known = new Map<string, Known>()
  let vectorBytes = 0

  const add = async (upload: UploadView): Promise<void> => {
    const one: Known = { upload, first: located.length, count: 0 }
    known.set(upload.upload_id, one)
    const bytes = upload.chunks_blob ? await blobs.get(upload.chunks_blob) : undefined
    if (!bytes) return
    const slice = slices()
    for await (const { number, text, start, end } of linesOf(bytes)) {
      if (number === 0) continue
      words.add(saidIn(chunkIn(text)))
      located.push({ upload, chunk: number - 1, start, end })
      one.count++
      await slice()
    }
  }

  const load = async (one: Known): Promise<void> => {
    const bytes = await blobs.get(one.upload.vectors_blob ?? '')
    const vectors = bytes && vectorsIn(Buffer.concat(await bytes.toArray()))
    if (vectors?.lengths.length !== one.count) return
    vectorBytes += vectors.bytes.length - (one.vectors?.bytes.length ?? 0)
    one.vectors = vectors
  }

  return {
    get size(): number {
      return words.size + vectorBytes + 52 * located.length + 500 * known.size
    },
    /** Whether all indexed uploads are still there. */
    isPartOf(uploads: readonly UploadView[]): boolean {
      const ids = new Set(uploads.map(({ upload_id }) => upload_id))
      return [...known.keys()].every((id) => ids.has(id))
    },
    async addAll(uploads: readonly UploadView[]): Promise<void> {
      for (const upload of uploads) {
        const one = known.get(upload.upload_id)
        if (one) one.upload = upload
        else await add(upload)
      }
    },
    /** Loads the stored vectors of a model; returns the uploads that have none. */
    async loadVectors(model: string): Promise<string[]> {
      const without: string[] = []
      for (const one of known.values()) {
        if (one.count === 0 || one.vectors?.model === model) continue
        if (one.upload.vectors_model === model) await load(one)
        if (one.vectors?.model !== model) without.push(one.upload.upload_id)
      }
      return without
    },
    /** By their words, the best first. */
    search: (query: string, limit: number): Ranked[] =>
      words.search(query, limit).flatMap(({ document, score }) => {
        const found = located[document]
        return found ? [{ ...found, score }] : []
      }),
    /** By meaning, the best first; only chunks with a positive similarity. */
    async alike(model: string, query: Float32Array, limit: number): Promise<Ranked[]> {
      let best: Ranked[] = []
      let floor = 0
      const slice = slices()
      for (const { first, count, vectors } of [...known.values()]) {
        if (vectors?.model !== model || vectors.dimensions !== query.length) continue
        for (let n = 0; n < count; n++) {
          const found = located[first + n]
          const score = likeness(vectors, n, query)
          if (found && score > floor) best.push({ ...found, score })
          if (best.length > 8 * limit) {
            best = best.sort(byScore).slice(0, limit)
            floor = best.at(-1)?.score ?? floor
          }
          await slice()
        }
      }
      return best.sort(byScore).slice(0, limit)
    },
  }
}

export type DatastoreIndex = ReturnType<typeof datastoreIndex>
