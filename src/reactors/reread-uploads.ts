import { LRUCache } from 'lru-cache'
import type { FollowUploadCommands } from '../../commands/follow-upload.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View, WaitForPosition } from '../ports/views.ts'
import { type DocumentReader, ReaderClosed } from '../rag/document-reader.ts'
import { readerVersion } from '../rag/reader-version.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { datastoreKey, SealBroken } from '../security/vault.ts'
import { withLease } from './with-lease.ts'
import { workers } from './workers.ts'

/** How many uploads are queued at a time; one is read at a time. */
const slice = 500
/** How long an upload rests after an error that is not the document's. */
const restMs = 60 * 60_000

/** What a reader finds that differs from what an earlier one found. */
type NewChunks = { chunksBlob?: string; warnings?: string[] }

type Uses = {
  uploads: View<UploadView>
  blobs: SealedBlobs
  reader: Pick<DocumentReader, 'read'>
  followUpload: Pick<FollowUploadCommands, 'reread' | 'replaceChunks' | 'fail' | 'retry'>
  waitForPosition: WaitForPosition
  /** Called when the work on an upload is done. */
  worked(organizationId: string, uploadId: string): void
  /** The request that an upload came with, for the log. */
  requestOf(id: string): Promise<string | undefined>
  leases: Leases
  clock: Clock
  node: string
  log: Log
}

async function* each(parts: readonly Uint8Array[]) {
  yield* parts
}

/**
 * Reads documents again that an earlier reader has read. Until their new chunks are stored, the
 * old ones are searched. Interrupted work begins anew with the same result. A document that can no
 * longer be read keeps its chunks. One that has failed is indexed if it can be read now.
 */
export const rereadUploads = (uses: Uses) => {
  const { uploads, blobs, reader, followUpload, waitForPosition, leases, clock, node, log } = uses

  const resting = new LRUCache<string, true>({ max: 10_000, ttl: restMs })

  const blobsOf = ({ organization_id, datastore_id }: UploadView) =>
    blobs.under(datastoreKey(organization_id, datastore_id))

  const read = async (view: UploadView) => {
    const bytes = await blobsOf(view).get(view.blob)
    if (!bytes) return { failed: 'The file is not stored: upload it again' }
    const { file_type: fileType, upload_id: uploadId } = view
    return reader.read({ bytes, fileType, uploadId }).finally(() => bytes.destroy())
  }

  const damaged = (error: unknown) => {
    if (error instanceof SealBroken)
      return { failed: 'The stored file is damaged: upload it again' }
    throw error
  }

  /** Stores the chunks that the reader finds, unless they are as before. */
  const newChunks = async (view: UploadView): Promise<NewChunks> => {
    const found = await read(view).catch(damaged)
    if ('failed' in found) {
      const upload_id = view.upload_id
      log.warn({ upload_id, reason: found.failed }, 'a document cannot be read again')
      return {}
    }
    const { chunks_blob, upload_id: uploadId, datastore_id: datastoreId, filename } = view
    const chunksBlob = await blobsOf(view).nameOf(found.hash)
    const hasWarnings = found.warnings.length > 0 || view.warnings !== undefined
    const warnings = hasWarnings ? { warnings: [...found.warnings] } : {}
    if (chunksBlob === chunks_blob) return warnings
    const chunksBytes = found.lines.reduce((sum, { length }) => sum + length, 0)
    const { wanted } = await followUpload.reread(
      { uploadId, datastoreId, filename },
      { reader: readerVersion, chunks: found.count, chunksBlob, chunksBytes },
      systemCall(uploadId, clock.now(), view.organization_id),
    )
    if (wanted) await blobsOf(view).put(each(found.lines))
    return wanted ? { chunksBlob, ...warnings } : {}
  }

  const reread = async (view: UploadView): Promise<void> => {
    const { upload_id: uploadId, datastore_id: datastoreId, filename } = view
    const chunks = await newChunks(view)
    const { position } = await followUpload.replaceChunks(
      { uploadId, datastoreId, filename },
      { reader: readerVersion, ...chunks },
      systemCall(uploadId, clock.now(), view.organization_id),
    )
    await waitForPosition(position)
    const { remove } = blobsOf(view)
    for (const blob of (await uploads.get(uploadId))?.stale_blobs ?? []) await remove(blob)
  }

  /** Queues an upload that has failed, if it can be read now. */
  const retry = async (view: UploadView): Promise<void> => {
    const { upload_id: uploadId, datastore_id: datastoreId, filename } = view
    const one = { uploadId, datastoreId, filename }
    const found = await read(view).catch(damaged)
    const call = systemCall(uploadId, clock.now(), view.organization_id)
    const { position } =
      'failed' in found
        ? await followUpload.fail(one, { reason: found.failed, reader: readerVersion }, call)
        : await followUpload.retry(one, call)
    await waitForPosition(position)
  }

  const work = async (id: string): Promise<void> => {
    const view = resting.has(id) ? undefined : await uploads.get(id)
    const isOver = view?.status === 'completed' || view?.status === 'failed'
    if (!view?.shown || !isOver || (view.reader ?? readerVersion) >= readerVersion) return
    try {
      await withLease({ leases, name: `upload:${id}`, holder: `${node}/reread` }, () =>
        view.status === 'failed' ? retry(view) : reread(view),
      )
    } catch (error) {
      if (error instanceof ReaderClosed) return
      resting.set(id, true)
      throw error
    }
    uses.worked(view.organization_id, id)
  }

  const pool = workers({
    work,
    log,
    requestOf: uses.requestOf,
    most: 1,
    what: 'rereading an upload',
  })

  return {
    /** Queues uploads that earlier readers have read; called periodically. */
    async sweep(): Promise<void> {
      for (let version = 1; version < readerVersion; version++) {
        const query = { index: 'by_reader', equals: [version], limit: slice }
        const { items } = await uploads.find(query)
        for (const { organization_id, upload_id } of items) pool.add(organization_id, upload_id)
      }
    },
    stop: pool.stop,
  }
}
