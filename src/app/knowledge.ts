import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { ClearDatastoreCommands } from '../../commands/clear-datastore.ts'
import type { CreateDatastoreCommand } from '../../commands/create-datastore.ts'
import type { DeleteDatastoreCommand } from '../../commands/delete-datastore.ts'
import type { DeleteFileCommand } from '../../commands/delete-file.ts'
import type { FollowUploadCommands } from '../../commands/follow-upload.ts'
import { uploadFiles } from '../../commands/upload-files.ts'
import type { DataStoreView } from '../../projections/datastores.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { getDatastore, listDatastores } from '../../queries/list-datastores.ts'
import {
  countUnfinished,
  getUpload,
  listFiles,
  listUploads,
  uploadsIn,
} from '../../queries/list-uploads.ts'
import type { Config } from '../config.ts'
import type { Transact } from '../event-sourcing/transactor.ts'
import { ragDatastoreRoutes } from '../http/routes/rag-datastores.ts'
import { ragUploadRoutes } from '../http/routes/rag-uploads.ts'
import { socketUpload } from '../http/ws/upload.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Clock } from '../ports/clock.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import { documentReader } from '../rag/document-reader.ts'
import { knowledgeIn } from '../rag/knowledge.ts'
import { embedUploads } from '../reactors/embed-uploads.ts'
import { indexUploads } from '../reactors/index-uploads.ts'
import type { Delegate } from '../security/delegate.ts'

type Uses = {
  config: Pick<Config, 'DATA_DIR'>
  transact: Transact
  commands: {
    createDatastore: CreateDatastoreCommand
    deleteDatastore: DeleteDatastoreCommand
    deleteFile: DeleteFileCommand
    clearDatastore: ClearDatastoreCommands
    followUpload: FollowUploadCommands
  }
  datastores: View<DataStoreView>
  uploads: View<UploadView>
  blobs: Blobs
  waitForPosition(position: number): Promise<void>
  head(): Promise<number>
  embedder: Embedder | undefined
  leases: Leases
  clock: Clock
  node: string
  log: Log
}

/** Documents are read beside the server, which keeps a processor to itself. */
const threads = Math.min(4, Math.max(1, availableParallelism() - 1))

/** Knowledge: what takes documents in, what reads them, and what finds them again. */
export const knowledgeFrom = (uses: Uses) => {
  const { config, commands, datastores, uploads, blobs, waitForPosition, embedder } = uses
  const files = uploadsIn(uploads)
  const embedding = embedder && {
    embedder,
    ...embedUploads({
      ...uses,
      ...commands,
      embedder,
      worked: (id) => indexing.add([id]),
    }),
  }
  const indexing = indexUploads({
    ...uses,
    ...commands,
    uploadsIn: files,
    reader: documentReader(),
    threads,
    worked: (id) => embedding?.add([id]),
  })
  const reactor = {
    ...indexing,
    async sweep(): Promise<void> {
      await indexing.sweep()
      await embedding?.sweep()
    },
    async stop(): Promise<void> {
      await Promise.all([indexing.stop(), embedding?.stop()])
    },
  }
  const search = knowledgeIn({
    datastores,
    uploadsIn: files,
    blobs,
    embedding: embedding && { embedder: embedding.embedder, lacking: embedding.add },
  })
  const upload = uploadFiles(uses)
  const oneDatastore = getDatastore(datastores)
  const oneUpload = getUpload({ uploads, datastores })
  return {
    search,
    uploadFiles: upload,
    reactor,
    /** Files over sockets. */
    upload: (delegate: Delegate) =>
      socketUpload({
        uploadFiles: upload,
        getUpload: oneUpload,
        delegate,
        toDo: reactor.add,
        waitForPosition,
      }),
    routes: [
      ragDatastoreRoutes({
        ...commands,
        listDatastores: listDatastores(datastores),
        getDatastore: oneDatastore,
        listFiles: listFiles(uploads),
        countUnfinished: countUnfinished(uploads),
        knowledge: search,
        clear: reactor.clear,
        toDo: reactor.add,
        waitForPosition,
      }),
      ragUploadRoutes({
        uploadFiles: upload,
        listUploads: listUploads({ uploads, datastores }),
        getUpload: oneUpload,
        toDo: reactor.add,
        waitForPosition,
        spoolDir: join(config.DATA_DIR, 'incoming'),
      }),
    ],
  }
}
