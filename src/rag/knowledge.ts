import { LRUCache } from 'lru-cache'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Knowledge, Passage } from '../ports/knowledge.ts'
import { type Log, silent } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { datastoreKey } from '../security/vault.ts'
import { datastoreIndexes, type FindUploads, type RankedPassage } from './datastore-indexes.ts'
import { fused } from './fused.ts'
import type { IndexLimits } from './index-thread.ts'
import { chunkIn, placeIn } from './stored-chunks.ts'
import { unit } from './vectors.ts'

type Uses = {
  datastores: View<DataStoreView>
  findUploads: FindUploads
  blobs: SealedBlobs
  /** Undefined: search by words alone. */
  embedding?: Embedding | undefined
  limits?: Partial<IndexLimits>
  log?: Pick<Log, 'warn'>
}

/** Embeds queries, and receives the documents that have no vectors. */
type Embedding = {
  embedder: Embedder
  lacking(organizationId: string, uploadIds: readonly string[]): void
}

/** How many places of each ranking are merged. */
const depth = 100
/** How often a search begins anew when chunks that it has found are gone. */
const attempts = 3
/** How long a search waits for the vector of its query. */
const queryMs = 3_000

const byScore = (left: RankedPassage, right: RankedPassage) => right.score - left.score
const placeOf = ({ upload, chunk }: RankedPassage): string => `${upload.upload_id}/${chunk}`

/**
 * Search in DataStores. Each has an index, built from the stored chunks at its first search,
 * extended when files are added, and rebuilt when one is removed. The indexes used least recently
 * are dropped when memory is short. With an embedder, chunks of like meaning are found too; if it
 * fails, the search goes by words alone.
 */
export const knowledgeIn = (uses: Uses): Knowledge & { close(): Promise<void> } => {
  const { datastores, findUploads, blobs, embedding, limits = {}, log = silent } = uses
  const indexes = datastoreIndexes({
    findUploads,
    blobs,
    model: embedding?.embedder.name,
    lacking: (organizationId, uploadIds) => embedding?.lacking(organizationId, uploadIds),
    limits,
    log,
  })

  const vectors = new LRUCache<string, Promise<Float32Array>>({ max: 1_000 })

  /** The vector of a query; undefined when there is none in time. */
  const meant = async (query: string): Promise<Float32Array | undefined> => {
    if (!embedding) return undefined
    const known = vectors.get(query)
    const embedded =
      known ??
      embedding.embedder
        .embed([query], queryMs)
        .then(([vector = new Float32Array()]) => unit(vector))
    if (!known) vectors.set(query, embedded)
    return embedded.catch(() => {
      vectors.delete(query)
      return undefined
    })
  }

  /** Undefined if the chunks are gone: the upload was removed or read again meanwhile. */
  const read = async ({
    upload,
    chunk,
    start,
    end,
    score,
  }: RankedPassage): Promise<Passage | undefined> => {
    const stored = blobs.under(datastoreKey(upload.organization_id, upload.datastore_id))
    const bytes = await stored.get(upload.chunks_blob ?? '', { start, end })
    if (!bytes) return undefined
    const content = chunkIn(Buffer.concat(await bytes.toArray()).toString())
    const { upload_id, filename } = upload
    return { upload_id, filename, chunk, text: content.text, place: placeIn(content), score }
  }

  const ranked = async (
    organizationId: string,
    datastoreIds: readonly string[],
    query: string,
    limit: number,
  ): Promise<RankedPassage[]> => {
    const views = await Promise.all([...new Set(datastoreIds)].map((id) => datastores.get(id)))
    const own = views.filter((view) => view?.shown && view.organization_id === organizationId)
    const vector = own.length > 0 ? await meant(query) : undefined
    const model = embedding?.embedder.name ?? ''
    const most = vector ? Math.max(limit, depth) : limit
    const meaning = vector && { model, vector }
    const results = await Promise.all(
      own.flatMap((view) => (view ? [indexes.search(view, query, most, meaning)] : [])),
    )
    const byWords = results.flatMap(({ words }) => words).toSorted(byScore)
    const alike = results.flatMap((result) => result.alike).toSorted(byScore)
    const best = vector ? fused([byWords, alike.slice(0, most)], placeOf) : byWords
    return best.slice(0, limit)
  }

  return {
    async search(organizationId, datastoreIds, query, limit) {
      for (let attempt = 1; ; attempt++) {
        const best = await ranked(organizationId, datastoreIds, query, limit)
        const passages = await Promise.all(best.map(read))
        if (attempt === attempts || passages.every((passage) => passage !== undefined))
          return passages.filter((passage) => passage !== undefined)
      }
    },
    /** Ends the thread that holds the indexes. */
    close: indexes.close,
  }
}
