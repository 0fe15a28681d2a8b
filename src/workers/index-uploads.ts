import type { ClearDatastoreCommand } from '../../commands/clear-datastore.ts'
import type { FollowedUpload, FollowUploadCommands } from '../../commands/follow-upload.ts'
import type { RemoveDatastoreFileCommand } from '../../commands/remove-datastore-file.ts'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { findPages } from '../../queries/find-pages.ts'
import type { FindUploads } from '../../queries/find-uploads.ts'
import { latest, type Position } from '../domain/event.ts'
import { refusalWords } from '../domain/refusal-words.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { View } from '../ports/views.ts'
import { type DocumentReader, ReaderClosed } from '../rag/document-reader.ts'
import { readerVersion } from '../rag/reader-version.ts'
import { SealBroken } from '../security/vault.ts'
import { sinceStored } from '../support/stopwatch.ts'
import type { StorageQuotas } from '../turns/begin/storage-quotas.ts'
import { damagedFile, storedUpload, type UploadWorkerUses } from './stored-upload.ts'
import { withLease } from './with-lease.ts'
import { workQueue } from './work-queue.ts'

/** How long after its event an upload's file may take to be stored. */
const arrivalMs = 10 * 60_000
/** Deleted DataStores that one sweep empties. */
const mostDeleted = 1_000

type Uses = UploadWorkerUses & {
  datastores: View<DataStoreView>
  findUploads: FindUploads
  reader: DocumentReader
  quotas: Pick<StorageQuotas, 'isFull'>
  /** How many documents are read at once. */
  threads: number
  followUpload: FollowUploadCommands
  removeDatastoreFile: RemoveDatastoreFileCommand
  clearDatastore: ClearDatastoreCommand
  /** The position of the last event. */
  head(): Promise<Position>
}

/**
 * Reads uploaded files and stores their passages, which the first search of the DataStore indexes
 * (src/rag/datastore-indexes.ts). Erases the blobs of removed files. Each step is stored before the
 * next, so that a restart continues where the last process stopped: interrupted work is queued
 * again, and no blob stays that the history says is removed.
 */
export const indexUploads = (uses: Uses) => {
  const { uploads, datastores, findUploads, reader } = uses
  const { followUpload, removeDatastoreFile, clearDatastore } = uses
  const { waitForPosition, leases, clock, node, log } = uses
  const { blobsOf, subject, chunkFieldsOf } = storedUpload(uses)
  /** Uploads that an earlier process may have been working on. */
  const interrupted = new Set<string>()

  /** Other uploads of the DataStore may have the same bytes. */
  const isUnused = async (blob: string): Promise<boolean> => {
    await waitForPosition(await uses.head())
    return (await uploads.find({ index: 'by_blob', equals: [blob, true], limit: 1 })).total === 0
  }

  const erase = async (view: UploadView): Promise<void> => {
    const { upload, call } = subject(view)
    const { remove } = blobsOf(view)
    if (view.chunks_blob) await remove(view.chunks_blob)
    if (view.vectors_blob) await remove(view.vectors_blob)
    if (view.next_chunks_blob) await remove(view.next_chunks_blob)
    for (const blob of view.stale_blobs ?? []) await remove(blob)
    if (await isUnused(view.blob)) await remove(view.blob)
    await followUpload.erase(upload, call)
  }

  const fail = (upload: FollowedUpload, reason: string, call: Call) =>
    followUpload.fail(upload, { reason, reader: readerVersion }, call)

  const index = async (view: UploadView): Promise<void> => {
    const { upload, call } = subject(view)
    const isInterrupted = interrupted.delete(view.upload_id)
    if (isInterrupted || view.status === 'indexing') await followUpload.requeue(upload, call)
    const bytes = await blobsOf(view).get(view.blob)
    if (!bytes) {
      if (sinceStored(clock, view.uploaded_at) < arrivalMs) return
      await fail(upload, 'The file did not arrive whole: upload it again', call)
      return
    }
    const document = { bytes, fileType: view.file_type, uploadId: upload.uploadId }
    const read = await followUpload
      .start(upload, call)
      .then(() => reader.read(document))
      .finally(() => bytes.destroy())
    if ('failed' in read) {
      await fail(upload, read.failed, call)
      return
    }
    const { uploaded_by: userId } = view
    if (userId !== undefined && (await uses.quotas.isFull(view.organization_id, userId))) {
      await fail(upload, refusalWords.storage_quota_exceeded, call)
      return
    }
    const chunks = {
      ...(await chunkFieldsOf(view, read)),
      reader: readerVersion,
      ...(read.warnings.length > 0 && { warnings: [...read.warnings] }),
    }
    const { events } = await followUpload.index(upload, chunks, call)
    if (events.length === 0) return
    await blobsOf(view).put(read.lines)
    const done = await followUpload.complete(upload, subject(view).call)
    const removed = done.events.filter(({ type }) => type === 'UploadRemoved')
    await waitForPosition(done.position)
    for (const { data } of removed) queue.add(view.organization_id, data.uploadId)
  }

  const advance = async (view: UploadView): Promise<void> => {
    if (!view.shown) return erase(view)
    const datastore = await datastores.get(view.datastore_id)
    if (datastore?.shown) return index(view)
    const { upload, call } = subject(view)
    await waitForPosition((await removeDatastoreFile(upload, call)).position)
    queue.add(view.organization_id, upload.uploadId)
  }

  const failDamaged = async (view: UploadView): Promise<void> => {
    const { upload, call } = subject(view)
    await fail(upload, damagedFile, call)
  }

  const work = async (id: string): Promise<void> => {
    const view = await uploads.get(id)
    if (!view?.open) return
    try {
      await withLease({ leases, name: `upload:${id}`, holder: node }, () => advance(view))
    } catch (error) {
      if (error instanceof ReaderClosed) return
      if (error instanceof SealBroken && view.shown) return failDamaged(view)
      throw error
    }
    uses.onDone(view.organization_id, id)
  }

  const queue = workQueue({
    work,
    log,
    findRequestId: uses.findRequestId,
    most: uses.threads,
    what: 'indexing an upload',
  })

  /** Removes the files of a deleted DataStore, then its data key. Returns the number of uploads. */
  const emptyDatastore = async (organizationId: string, datastoreId: string): Promise<number> => {
    const call = systemCall(datastoreId, clock.now(), organizationId)
    const ids = new Set<string>()
    for (;;) {
      const files = await findUploads({ organizationId, datastoreId })
      const names = new Set(files.map(({ filename }) => filename))
      if (names.size === 0) break
      const removing = [...names].map((filename) =>
        removeDatastoreFile({ datastoreId, filename }, call),
      )
      const positions = (await Promise.all(removing)).map(({ position }) => position)
      await waitForPosition(latest(...positions))
      const before = ids.size
      for (const { upload_id } of files) ids.add(upload_id)
      if (ids.size === before) return ids.size
    }
    const { position } = await clearDatastore({ datastoreId }, call)
    await waitForPosition(position)
    for (const id of ids) queue.add(organizationId, id)
    return ids.size
  }

  const sweep = async (): Promise<void> => {
    for await (const items of findPages(uploads, { index: 'open', equals: [true] }))
      for (const { organization_id, upload_id } of items) queue.add(organization_id, upload_id)
    const deleted = await datastores.find({ index: 'deleting', equals: [true], limit: mostDeleted })
    for (const { organization_id, datastore_id } of deleted.items)
      await emptyDatastore(organization_id, datastore_id)
  }

  return {
    /** Queues uploads for indexing or erasing, as the views show them. */
    add(organizationId: string, uploadIds: readonly string[]): void {
      for (const id of uploadIds) queue.add(organizationId, id)
    },
    emptyDatastore,
    /** How many uploads wait or are worked on. */
    length: queue.length,
    /** Resolves when none waits or is worked on, or after so many milliseconds. */
    idle: queue.idle,
    /** Queues all open uploads and deleted DataStores; called periodically. */
    sweep,
    /** The same at the start, when all work in progress is that of a process that has died. */
    async recover(): Promise<void> {
      for await (const items of findPages(uploads, { index: 'open', equals: [true] }))
        for (const { upload_id } of items) interrupted.add(upload_id)
      await sweep()
    },
    async stop(): Promise<void> {
      await Promise.all([reader.close(), queue.stop()])
    },
  }
}
export type IndexUploads = ReturnType<typeof indexUploads>
export type EmptyDatastore = IndexUploads['emptyDatastore']
