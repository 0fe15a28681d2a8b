import { LRUCache } from 'lru-cache'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { UploadView } from '../../projections/uploads.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Knowledge, Passage } from '../ports/knowledge.ts'
import type { View } from '../ports/views.ts'
import { type DatastoreIndex, datastoreIndex, type Ranked } from './datastore-index.ts'
import { fused } from './fused.ts'
import { chunkIn } from './stored-chunks.ts'
import { unit } from './vectors.ts'

/** Every upload of a DataStore that is not removed, the oldest first. */
type FindUploads = (place: {
  organizationId: string
  datastoreId: string
  status?: UploadView['status']
}) => Promise<UploadView[]>

type Uses = {
  datastores: View<DataStoreView>
  findUploads: FindUploads
  blobs: Blobs
  /** Undefined: search by words alone. */
  embedding?: Embedding | undefined
  /** The most memory for the indexes, in bytes. */
  keep?: number
}

/** Embeds queries, and is told of documents that have no vectors. */
type Embedding = {
  embedder: Embedder
  lacking(organizationId: string, uploadIds: readonly string[]): void
}

/** How many places of each ranking are merged. */
const depth = 100
/** How long a search waits for the vector of its query. */
const queryMs = 3_000

const byScore = (left: Ranked, right: Ranked) => right.score - left.score
const placeOf = ({ upload, chunk }: Ranked): string => `${upload.upload_id}/${chunk}`

/** `version` is the DataStore's version when the index was last updated. */
type Kept = { index: DatastoreIndex; version: number }

/**
 * Search in DataStores. Each has an index, built from the stored chunks at its first search,
 * extended when files are added, and rebuilt when one is removed. The indexes used least recently
 * are dropped when memory is short. With an embedder, chunks of like meaning are found too; if it
 * fails, the search goes by words alone.
 */
export const knowledgeIn = ({
  datastores,
  findUploads,
  blobs,
  embedding,
  keep = 256 * 2 ** 20,
}: Uses): Knowledge => {
  const kept = new LRUCache<string, Kept>({
    maxSize: keep,
    sizeCalculation: ({ index }) => Math.max(1, index.size),
  })
  const building = new Map<string, Promise<DatastoreIndex>>()

  const asked = new LRUCache<string, Promise<Float32Array>>({ max: 1_000 })

  /** Loads vectors stored since, and reports documents that have none. */
  const load = async (index: DatastoreIndex, organizationId: string): Promise<void> => {
    const without = embedding && (await index.loadVectors(embedding.embedder.name))
    if (without?.length) embedding?.lacking(organizationId, without)
  }

  /** The vector of a query; undefined when there is none in time. */
  const meant = async (query: string): Promise<Float32Array | undefined> => {
    if (!embedding) return undefined
    const known = asked.get(query)
    const asking =
      known ??
      embedding.embedder
        .embed([query], queryMs)
        .then(([vector = new Float32Array()]) => unit(vector))
    if (!known) asked.set(query, asking)
    return asking.catch(() => {
      asked.delete(query)
      return undefined
    })
  }

  const built = async (view: DataStoreView): Promise<DatastoreIndex> => {
    const { datastore_id: datastoreId, organization_id: organizationId, version } = view
    const found = kept.get(datastoreId)
    if (found?.version === version) {
      await load(found.index, organizationId)
      kept.set(datastoreId, found)
      return found.index
    }
    const uploads = await findUploads({ organizationId, datastoreId, status: 'completed' })
    const index = found?.index.isPartOf(uploads) ? found.index : datastoreIndex(blobs)
    await index.addAll(uploads)
    await load(index, organizationId)
    kept.set(datastoreId, { index, version })
    return index
  }

  const indexOf = async (view: DataStoreView): Promise<DatastoreIndex> => {
    const { datastore_id: id } = view
    for (let before = building.get(id); before; before = building.get(id))
      await before.catch(() => undefined)
    const work = built(view)
      .catch((error) => {
        // It may know half of a document.
        kept.delete(id)
        throw error
      })
      .finally(() => building.delete(id))
    building.set(id, work)
    return work
  }

  const alike = async (indexes: readonly DatastoreIndex[], vector: Float32Array, most: number) => {
    const model = embedding?.embedder.name ?? ''
    const found = await Promise.all(indexes.map((index) => index.alike(model, vector, most)))
    return found.flat().toSorted(byScore).slice(0, most)
  }

  const read = async ({ upload, chunk, start, end, score }: Ranked): Promise<Passage[]> => {
    const bytes = await blobs.get(upload.chunks_blob ?? '', { start, end })
    if (!bytes) return []
    const { text, place, headings } = chunkIn(Buffer.concat(await bytes.toArray()).toString())
    const { upload_id, filename } = upload
    const where = headings.length > 0 ? `${place}, ${headings.join(' › ')}` : place
    return [{ upload_id, filename, chunk, text, place: where, score }]
  }

  return {
    async search(organizationId, datastoreIds, query, limit) {
      const views = await Promise.all([...new Set(datastoreIds)].map((id) => datastores.get(id)))
      const own = views.filter((view) => view?.shown && view.organization_id === organizationId)
      const [vector, indexes] = await Promise.all([
        own.length > 0 ? meant(query) : undefined,
        Promise.all(own.flatMap((view) => (view ? [indexOf(view)] : []))),
      ])
      const most = vector ? Math.max(limit, depth) : limit
      const byWords = indexes.flatMap((index) => index.search(query, most)).toSorted(byScore)
      const best = vector ? fused([byWords, await alike(indexes, vector, most)], placeOf) : byWords
      return (await Promise.all(best.slice(0, limit).map(read))).flat()
    },
  }
}
