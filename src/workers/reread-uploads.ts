import { LRUCache } from 'lru-cache'
import type { FollowUploadCommands } from '../../commands/follow-upload.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { type DocumentReader, ReaderClosed } from '../rag/document-reader.ts'
import { readerVersion } from '../rag/reader-version.ts'
import { SealBroken } from '../security/vault.ts'
import { damagedFile, storedUpload, type UploadWorkerUses } from './stored-upload.ts'
import { withLease } from './with-lease.ts'
import { workQueue } from './work-queue.ts'

/** How many uploads are queued at a time; one is read at a time. */
const slice = 500
/** How long an upload rests after an error that is not the document's. */
const restMs = 60 * 60_000

/** What a reader finds that differs from what an earlier one found. */
type NewChunks = { chunksBlob?: string; warnings?: string[] }

type Uses = UploadWorkerUses & {
  reader: Pick<DocumentReader, 'read'>
  followUpload: Pick<FollowUploadCommands, 'announceReread' | 'finishReread' | 'fail' | 'retry'>
}

/**
 * Reads documents again that an earlier reader has read. Until their new chunks are stored, the
 * old ones are searched. Interrupted work begins anew with the same result. A document that can no
 * longer be read keeps its chunks. One that has failed is indexed if it can be read now.
 */
export const rereadUploads = (uses: Uses) => {
  const { uploads, reader, followUpload, waitForPosition, leases, node, log } = uses
  const { blobsOf, subject, chunkFieldsOf } = storedUpload(uses)

  const resting = new LRUCache<string, true>({ max: 10_000, ttl: restMs })

  const read = async (view: UploadView) => {
    const bytes = await blobsOf(view).get(view.blob)
    if (!bytes) return { failed: 'The file is not stored: upload it again' }
    const { file_type: fileType, upload_id: uploadId } = view
    return reader.read({ bytes, fileType, uploadId }).finally(() => bytes.destroy())
  }

  const damaged = (error: unknown) => {
    if (error instanceof SealBroken) return { failed: damagedFile }
    throw error
  }

  /** Stores the chunks that the reader finds, unless they are as before. */
  const newChunks = async (view: UploadView): Promise<NewChunks> => {
    const document = await read(view).catch(damaged)
    if ('failed' in document) {
      const upload_id = view.upload_id
      log.warn({ upload_id, reason: document.failed }, 'a document cannot be read again')
      return {}
    }
    const chunks = await chunkFieldsOf(view, document)
    const hasWarnings = document.warnings.length > 0 || view.warnings !== undefined
    const warnings = hasWarnings ? { warnings: [...document.warnings] } : {}
    if (chunks.chunksBlob === view.chunks_blob) return warnings
    const { upload, call } = subject(view)
    const { wanted } = await followUpload.announceReread(
      upload,
      { reader: readerVersion, ...chunks },
      call,
    )
    if (!wanted) return {}
    await blobsOf(view).put(document.lines)
    return { chunksBlob: chunks.chunksBlob, ...warnings }
  }

  const reread = async (view: UploadView): Promise<void> => {
    const replaced = { reader: readerVersion, ...(await newChunks(view)) }
    const { upload, call } = subject(view)
    const { position } = await followUpload.finishReread(upload, replaced, call)
    await waitForPosition(position)
    const { remove } = blobsOf(view)
    for (const blob of (await uploads.get(view.upload_id))?.stale_blobs ?? []) await remove(blob)
  }

  /** Queues an upload that has failed, if it can be read now. */
  const retry = async (view: UploadView): Promise<void> => {
    const document = await read(view).catch(damaged)
    const { upload, call } = subject(view)
    const { position } =
      'failed' in document
        ? await followUpload.fail(upload, { reason: document.failed, reader: readerVersion }, call)
        : await followUpload.retry(upload, call)
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
    uses.onDone(view.organization_id, id)
  }

  const queue = workQueue({
    work,
    log,
    findRequestId: uses.findRequestId,
    most: 1,
    what: 'rereading an upload',
  })

  return {
    /** Queues uploads that earlier readers have read; called periodically. */
    async sweep(): Promise<void> {
      for (let version = 1; version < readerVersion; version++) {
        const query = { index: 'by_reader', equals: [version], limit: slice }
        const { items } = await uploads.find(query)
        for (const { organization_id, upload_id } of items) queue.add(organization_id, upload_id)
      }
    },
    stop: queue.stop,
  }
}
