import { bm25 } from '../support/bm25.ts'
import { type Spoken, spokenIn } from '../support/languages.ts'
import { wordsIn } from '../support/words.ts'
import { lineSplitter } from './lines.ts'
import { chunkIn, searchableText } from './stored-chunks.ts'
import { likeness, type Vectors, vectorsIn } from './vectors.ts'

/** Where a chunk is stored: in which blob, on which line, and that line's bytes. */
export type Ranked = {
  chunksBlob: string
  chunk: number
  start: number
  end: number
  score: number
}

type Located = Omit<Ranked, 'score'>

/** The chunks of a blob: where they begin, how many, in what language, and what they mean. */
type Known = {
  first: number
  count: number
  linesIn: ReturnType<typeof lineSplitter>
  spoken?: Spoken
  vectors?: Vectors
}

/** A query's meaning, as a model sees it. */
export type Meaning = { model: string; vector: Float32Array }

const byScore = (left: Ranked, right: Ranked) => right.score - left.score

/**
 * An index of the words of a DataStore's chunks, and of their vectors if they have any. The chunks
 * themselves stay in the blob store.
 */
export const datastoreIndex = () => {
  const words = bm25()
  /** By chunk; undefined once its blob is dropped. */
  const located: (Located | undefined)[] = []
  const known = new Map<string, Known>()
  let vectorBytes = 0
  let dropped = 0

  const drop = (id: string, { first, count, vectors }: Known): void => {
    known.delete(id)
    located.fill(undefined, first, first + count)
    dropped += count
    vectorBytes -= vectors?.bytes.length ?? 0
  }

  return {
    /** What it takes in memory, in bytes. */
    get size(): number {
      return words.size + vectorBytes + 72 * located.length + 500 * known.size
    },
    has: (chunksBlob: string): boolean => known.has(chunksBlob),
    /** Drops all blobs but these; answers the share of its chunks that are dropped. */
    keep(chunksBlobs: readonly string[]): number {
      const ids = new Set(chunksBlobs)
      for (const [id, entry] of known) if (!ids.has(id)) drop(id, entry)
      return dropped / Math.max(1, located.length)
    },
    /**
     * The next part of a blob of chunks. Blobs are added one after the other. The first chunks
     * determine the language of all.
     */
    add(chunksBlob: string, part: Uint8Array): void {
      const entry = known.get(chunksBlob) ?? {
        first: located.length,
        count: 0,
        linesIn: lineSplitter(),
      }
      known.set(chunksBlob, entry)
      const chunks = [...entry.linesIn(part)].flatMap(({ number, text, start, end }) =>
        number > 0 ? [{ number, terms: wordsIn(searchableText(chunkIn(text))), start, end }] : [],
      )
      if (chunks.length === 0) return
      entry.spoken ??= spokenIn(
        chunks.flatMap(({ terms }) => terms),
        words.mostSpoken(),
      )
      for (const { number, terms, start, end } of chunks) {
        words.addWords(terms, entry.spoken)
        located.push({ chunksBlob, chunk: number - 1, start, end })
        entry.count++
      }
    },
    /** Takes the stored vectors of a blob of chunks, unless they are not those of its chunks. */
    addVectors(chunksBlob: string, bytes: Uint8Array): void {
      const entry = known.get(chunksBlob)
      const vectors = vectorsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (!entry || vectors?.lengths.length !== entry.count) return
      vectorBytes += vectors.bytes.length - (entry.vectors?.bytes.length ?? 0)
      entry.vectors = vectors
    },
    /** Blobs with chunks that have no vectors of this model. */
    without: (model: string): string[] =>
      [...known].flatMap(([id, { count, vectors }]) =>
        count > 0 && vectors?.model !== model ? [id] : [],
      ),
    /** By their words, the best first. */
    search: (query: string, limit: number): Ranked[] =>
      words
        .search(query, limit, (entry) => !!located[entry])
        .flatMap(({ document: entry, score }) => {
          const place = located[entry]
          return place ? [{ ...place, score }] : []
        }),
    /** By meaning, the best first; only chunks with a positive similarity. */
    alike({ model, vector }: Meaning, limit: number): Ranked[] {
      let best: Ranked[] = []
      let floor = 0
      for (const { first, count, vectors } of known.values()) {
        if (vectors?.model !== model || vectors.dimensions !== vector.length) continue
        for (let n = 0; n < count; n++) {
          const place = located[first + n]
          const score = likeness(vectors, n, vector)
          if (place && score > floor) best.push({ ...place, score })
          if (best.length > 8 * limit) {
            best = best.sort(byScore).slice(0, limit)
            floor = best.at(-1)?.score ?? floor
          }
        }
      }
      return best.sort(byScore).slice(0, limit)
    },
  }
}

export type DatastoreIndex = ReturnType<typeof datastoreIndex>
