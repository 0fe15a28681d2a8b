import { LRUCache } from 'lru-cache'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { UploadView } from '../../projections/uploads.ts'
import type { Log } from '../ports/log.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { datastoreKey } from '../security/vault.ts'
import { fairTurns } from '../support/fair-queue.ts'
import { type WorkerPool, workerPool } from '../support/worker-pool.ts'
import type { Meaning, Ranked } from './datastore-index.ts'
import type { IndexAnswer, IndexLimits, IndexTask } from './index-thread.ts'

/** Every upload of a DataStore that is not removed, the oldest first. */
export type FindUploads = (place: {
  organizationId: string
  datastoreId: string
  status?: UploadView['status']
}) => Promise<UploadView[]>

type Uses = {
  findUploads: FindUploads
  blobs: SealedBlobs
  /** The model whose vectors are indexed; undefined: none. */
  model: string | undefined
  /** Receives the documents that have no vectors of it. */
  lacking(organizationId: string, uploadIds: readonly string[]): void
  limits?: Partial<IndexLimits>
  log: Pick<Log, 'warn'>
}

/** A passage's place, with the upload as the views showed it. */
export type RankedPassage = Omit<Ranked, 'chunksBlob'> & { upload: UploadView }

const usual: IndexLimits = { keep: 256 * 2 ** 20, largest: 128 * 2 ** 20 }
const heapMb = 512
const taskMs = 10_000
/** Indexes being built at once; one organization never builds all of them. */
const builds = 2
/** How often a search begins anew when its index is dropped meanwhile. */
const attempts = 3

/** `uploads` are by the blob of their chunks: those of an upload that is read again are others. */
type Known = { version: number; uploads: ReadonlyMap<string, UploadView> }

/** An index was dropped, or its thread ended, while it was being built. */
class IndexGone extends Error {
  override readonly name = 'IndexGone'
}

/**
 * The indexes of DataStores, in a thread that holds, extends and searches them, one task at a time;
 * organizations take turns. An index is built at its first search, a part of a document at a time,
 * so that searches of others continue in between.
 */
export const datastoreIndexes = (uses: Uses) => {
  const { findUploads, blobs, model, lacking, log } = uses
  const pool: WorkerPool<IndexTask, IndexAnswer> = workerPool({
    script: new URL('./index-thread.js', import.meta.url),
    threads: 1,
    timeoutMs: taskMs,
    heapMb,
    data: { ...usual, ...uses.limits },
  })
  const known = new LRUCache<string, Known>({ max: 1_000 })
  const building = new Map<string, Promise<void>>()
  /** Works when it is the organization's turn to build. */
  const inTurn = fairTurns(builds)

  const built = async (view: DataStoreView): Promise<void> => {
    const { datastore_id: datastoreId, organization_id: organizationId, version } = view
    const ask = async (task: IndexTask): Promise<IndexAnswer> => {
      const answer = await pool.run(organizationId, task)
      if (answer.gone) throw new IndexGone()
      return answer
    }
    const completed = await findUploads({ organizationId, datastoreId, status: 'completed' })
    const uploads = new Map<string, UploadView>(
      completed.flatMap((upload) => (upload.chunks_blob ? [[upload.chunks_blob, upload]] : [])),
    )
    const { missing = [] } = await ask({
      ask: 'build',
      datastoreId,
      chunksBlobs: [...uploads.keys()],
    })
    const stored = blobs.under(datastoreKey(organizationId, datastoreId))
    let full = false
    for (const chunksBlob of missing) {
      if (full) break
      const bytes = await stored.get(chunksBlob)
      for await (const part of bytes ?? [new Uint8Array()]) {
        full = (await ask({ ask: 'words', datastoreId, chunksBlob, part })).full === true
        if (full) break
      }
    }
    if (full)
      log.warn({ datastore_id: datastoreId }, 'a DataStore is too large to be indexed as a whole')
    await ask({ ask: 'built', datastoreId, version })
    known.set(datastoreId, { version, uploads })
  }

  /**
   * Loads stored vectors that the index lacks, and reports documents that have none; answers
   * whether some were loaded.
   */
  const loadVectors = async (
    { datastore_id: datastoreId, organization_id: organizationId }: DataStoreView,
    uploads: ReadonlyMap<string, UploadView>,
    without: readonly string[],
  ): Promise<boolean> => {
    const stored = blobs.under(datastoreKey(organizationId, datastoreId))
    const none: string[] = []
    let loaded = false
    for (const chunksBlob of without) {
      const { upload_id, vectors_model, vectors_blob } = uploads.get(chunksBlob) ?? {}
      const bytes = vectors_model === model ? await stored.get(vectors_blob ?? '') : undefined
      if (bytes) {
        const vectors = new Uint8Array(Buffer.concat(await bytes.toArray()))
        await pool.run(organizationId, { ask: 'vectors', datastoreId, chunksBlob, vectors })
        loaded = true
      } else if (upload_id !== undefined) none.push(upload_id)
    }
    if (none.length > 0) lacking(organizationId, none)
    return loaded
  }

  /** Builds an index, or waits for its being built. */
  const build = async (view: DataStoreView): Promise<void> => {
    const { datastore_id: datastoreId, organization_id: organizationId } = view
    const before = building.get(datastoreId)
    if (before) return before.catch(() => undefined)
    const work = inTurn(organizationId, () => built(view))
      .catch(async (error) => {
        // It may know half of a document.
        await pool.run(organizationId, { ask: 'drop', datastoreId }).catch(() => undefined)
        if (!(error instanceof IndexGone)) throw error
      })
      .finally(() => building.delete(datastoreId))
    building.set(datastoreId, work)
    return work
  }

  return {
    /** The best chunks of a DataStore by their words and, with a meaning, by their vectors. */
    async search(
      view: DataStoreView,
      query: string,
      limit: number,
      meaning?: Meaning,
    ): Promise<{ words: RankedPassage[]; alike: RankedPassage[] }> {
      const { datastore_id: datastoreId, organization_id: organizationId, version } = view
      let loaded = false
      for (let attempt = 0; attempt <= attempts; attempt++) {
        const now = known.get(datastoreId)
        const answer: IndexAnswer =
          now && now.version >= version
            ? await pool.run(organizationId, {
                ask: 'search',
                datastoreId,
                version: now.version,
                query,
                limit,
                ...(meaning ? { meaning } : {}),
              })
            : { gone: true }
        if (now && !answer.gone) {
          const passagesOf = ({ chunksBlob, ...rest }: Ranked): RankedPassage[] => {
            const upload = now.uploads.get(chunksBlob)
            return upload ? [{ ...rest, upload }] : []
          }
          const { words = [], alike = [], without = [] } = answer
          if (!loaded && without.length > 0) {
            loaded = true
            if (await loadVectors(view, now.uploads, without)) continue
          }
          return { words: words.flatMap(passagesOf), alike: alike.flatMap(passagesOf) }
        }
        await build(view)
      }
      throw new IndexGone(`the index of ${datastoreId} is dropped as soon as it is built`)
    },
    close: pool.close,
  }
}
