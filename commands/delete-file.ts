import { despiteUnreadable } from '../src/domain/aggregate.ts'
import {
  dataStoresStream,
  decideFinishUploads,
  requireDataStore,
} from '../src/domain/datastore/datastore.ts'
import { decideDelete, fileStream } from '../src/domain/file/file.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

export type DeleteFile = { datastoreId: string; filename: string }

/** Deletes every upload of a file. @throws datastore_not_found, file_not_found */
export const deleteFile =
  ({ load, transact }: Streams) =>
  async ({ datastoreId, filename }: DeleteFile, call: Call) => {
    const { organizationId } = call
    const datastores = despiteUnreadable(dataStoresStream(organizationId))
    requireDataStore(datastoreId)((await load(datastores)).state)
    const stream = despiteUnreadable(fileStream(organizationId, fileKey(datastoreId, filename)))
    const { events, position } = await transact(stream, decideDelete, call)
    const uploadIds = events.map(({ data }) => data.uploadId)
    await transact(datastores, decideFinishUploads({ datastoreId, uploadIds }), call)
    return { uploadIds, position }
  }
export type DeleteFileCommand = ReturnType<typeof deleteFile>
