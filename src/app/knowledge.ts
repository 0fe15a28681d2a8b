import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { findUploads } from '../../queries/find-uploads.ts'
import { getDatastore } from '../../queries/get-datastore.ts'
import { findUpload, getUpload } from '../../queries/get-upload.ts'
import { listDatastores } from '../../queries/list-datastores.ts'
import { listFiles } from '../../queries/list-files.ts'
import { listUploads } from '../../queries/list-uploads.ts'
import { fileStream } from '../domain/file/file.ts'
import { findRequestId as findRequestIdOf } from '../event-sourcing/find-request-id.ts'
import { ragDatastoreRoutes } from '../http/routes/rag-datastores.ts'
import { ragFileRoutes } from '../http/routes/rag-files.ts'
import { ragPassageRoutes } from '../http/routes/rag-passages.ts'
import { ragSearchRoutes } from '../http/routes/rag-search.ts'
import { ragUploadRoutes } from '../http/routes/rag-uploads.ts'
import { socketUpload } from '../http/ws/upload.ts'
import { documentReader } from '../rag/document-reader.ts'
import { knowledgeIn } from '../rag/knowledge.ts'
import { readPassages } from '../rag/read-passages.ts'
import { openSpool } from '../security/spool.ts'
import { fileKey } from '../support/ids.ts'
import { embedUploads } from '../workers/embed-uploads.ts'
import { indexUploads } from '../workers/index-uploads.ts'
import { rereadUploads } from '../workers/reread-uploads.ts'
import { uploadAndEnqueue } from '../workers/upload-and-enqueue.ts'
import type { Parts } from './parts.ts'

/** Threads that read documents. Two at least: one organization never has all of them. */
const threads = Math.min(4, Math.max(2, availableParallelism() - 1))

/** Knowledge: uploading documents, indexing them, and searching them. */
export const knowledgePart = async ({ host, storage, writing, reading, access }: Parts) => {
  const { config, clock, node, log } = host
  const { events, leases, space } = storage.stores
  const { commands, blobs, embedder } = writing
  const { routeCommands, views, waitForPosition } = reading
  const { head } = events
  const { datastores, uploads } = views
  const files = findUploads({ uploads })
  const spoolDir = join(config.DATA_DIR, 'incoming')
  const spool = await openSpool(spoolDir, space.room('files', spoolDir))
  const { followUpload } = commands

  const requestIdOf = findRequestIdOf({ read: events.read })
  const findRequestId = async (id: string) => {
    const view = await uploads.get(id)
    if (!view) return undefined
    const { organization_id, datastore_id, filename } = view
    const { name } = fileStream(organization_id, fileKey(datastore_id, filename))
    return requestIdOf(name, { field: 'uploadId', is: id })
  }

  const reader = documentReader()
  // After one worker has worked on an upload, the other checks it for work of its own.
  const embedding =
    embedder &&
    embedUploads({
      uploads,
      blobs,
      embedder,
      followUpload,
      waitForPosition,
      onDone: (organizationId, id) => indexing.add(organizationId, [id]),
      findRequestId,
      leases,
      clock,
      node,
      log,
    })
  const indexing = indexUploads({
    uploads,
    datastores,
    findUploads: files,
    blobs,
    reader,
    quotas: access.quotas,
    threads,
    followUpload,
    removeDatastoreFile: commands.removeDatastoreFile,
    clearDatastore: commands.clearDatastore,
    waitForPosition,
    head,
    onDone: (organizationId, id) => embedding?.add(organizationId, [id]),
    findRequestId,
    leases,
    clock,
    node,
    log,
  })

  const rereading = rereadUploads({
    uploads,
    blobs,
    reader,
    followUpload,
    waitForPosition,
    onDone(organizationId, id) {
      indexing.add(organizationId, [id])
      embedding?.add(organizationId, [id])
    },
    findRequestId,
    leases,
    clock,
    node,
    log,
  })

  const search = knowledgeIn({
    datastores,
    findUploads: files,
    blobs,
    embedding: embedder && embedding && { embedder, lacking: embedding.add },
    log,
  })
  const upload = uploadAndEnqueue({
    uploadFiles: routeCommands.uploadFiles,
    enqueue: indexing.add,
  })
  const oneDatastore = getDatastore({ datastores })
  const oneUpload = getUpload({ uploads, datastores })

  return {
    /** How many uploads wait or are indexed. */
    queued: indexing.length,
    /** Resolves when none waits or is indexed, or after so many milliseconds. */
    indexed: indexing.idle,
    search,
    uploadAndEnqueue: upload,
    /** For files that come over sockets. */
    socketUpload: socketUpload({
      uploadAndEnqueue: upload,
      getUpload: oneUpload,
      quotas: access.quotas,
      delegate: access.delegate,
    }),
    /** Under /api/external. */
    routes: [
      ragDatastoreRoutes({
        createDatastore: routeCommands.createDatastore,
        deleteDatastore: routeCommands.deleteDatastore,
        listDatastores: listDatastores({ datastores }),
        getDatastore: oneDatastore,
        emptyDatastore: indexing.emptyDatastore,
      }),
      ragFileRoutes({
        deleteFile: routeCommands.deleteFile,
        getDatastore: oneDatastore,
        listFiles: listFiles({ uploads }),
        eraseUploads: indexing.add,
      }),
      ragSearchRoutes({ getDatastore: oneDatastore, knowledge: search }),
      ragPassageRoutes({
        findUpload: findUpload({ uploads, datastores }),
        readPassages: readPassages({ blobs }),
      }),
      ragUploadRoutes({
        uploadAndEnqueue: upload,
        quotas: access.quotas,
        listUploads: listUploads({ uploads, datastores }),
        getUpload: oneUpload,
        spool,
      }),
    ],
    /** Takes up work that waits. */
    async sweep(): Promise<void> {
      await indexing.sweep()
      await embedding?.sweep()
      await rereading.sweep()
    },
    /** At the start: takes up the work of a process that has died. */
    recover: indexing.recover,
    async close(): Promise<void> {
      await Promise.all([indexing.stop(), rereading.stop(), embedding?.stop(), search.close()])
    },
  }
}
