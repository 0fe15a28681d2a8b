import { LRUCache } from 'lru-cache'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { UploadsIn } from '../../queries/list-uploads.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Knowledge, Passage } from '../ports/knowledge.ts'
import type { View } from '../ports/views.ts'
import { type DatastoreIndex, datastoreIndex, type Ranked } from './datastore-index.ts'
import { chunkIn } from './stored-chunks.ts'

type Uses = {
  datastores: View<DataStoreView>
  uploadsIn: UploadsIn
  blobs: Blobs
  /** What the indexes may take in memory, in bytes. */
  keep?: number
}

/** `version` is the DataStore's when the index was brought up to date. */
type Kept = { index: DatastoreIndex; version: number }

/**
 * Search in DataStores: an index for each, built from the stored chunks when it is first asked,
 * extended as files come, built anew once one is gone, and forgotten when others are asked more.
 */
export const knowledgeIn = ({
  datastores,
  uploadsIn,
  blobs,
  keep = 256 * 2 ** 20,
}: Uses): Knowledge => {
  const kept = new LRUCache<string, Kept>({
    maxSize: keep,
    sizeCalculation: ({ index }) => Math.max(1, index.size),
  })
  const building = new Map<string, Promise<DatastoreIndex>>()

  const built = async (view: DataStoreView): Promise<DatastoreIndex> => {
    const { datastore_id: datastoreId, organization_id: organizationId, version } = view
    const found = kept.get(datastoreId)
    if (found?.version === version) return found.index
    const uploads = await uploadsIn({ organizationId, datastoreId, status: 'completed' })
    const index = found?.index.isPartOf(uploads) ? found.index : datastoreIndex(blobs)
    await index.addAll(uploads)
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
      const ranked = await Promise.all(
        own.map(async (view) => (view ? (await indexOf(view)).search(query, limit) : [])),
      )
      const best = ranked.flat().toSorted((left, right) => right.score - left.score)
      return (await Promise.all(best.slice(0, limit).map(read))).flat()
    },
  }
}
