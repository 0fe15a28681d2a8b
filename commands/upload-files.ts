import {
  dataStoresStream,
  decideBeginUploads,
  requireDataStore,
} from '../src/domain/datastore/datastore.ts'
import { latest } from '../src/domain/event.ts'
import { decideReceive, fileStream } from '../src/domain/file/file.ts'
import type { FileType } from '../src/domain/file/types.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Blobs } from '../src/ports/blobs.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { fileKey, idFor } from '../src/support/ids.ts'

/** A file whose bytes have arrived: `hash` is their SHA-256. */
export type ArrivedFile = {
  filename: string
  fileType: FileType
  size: number
  hash: string
  bytes(): AsyncIterable<Uint8Array>
}

export type UploadFiles = { datastoreId: string; files: readonly ArrivedFile[] }

type Uses = { transact: Transact; clock: Clock; blobs: Blobs }

/**
 * Receives files. First the DataStore is marked as in use, so that it cannot be deleted meanwhile;
 * then the event is stored, then the bytes: no bytes are ever stored that the history does not know.
 * An upload whose bytes did not arrive fails later, unless the request is repeated. Files of one
 * name are received in the given order. @throws datastore_not_found, StoreUnavailable
 */
export const uploadFiles = ({ transact, clock, blobs }: Uses) => {
  const take = async (datastoreId: string, file: ArrivedFile, uploadId: string, call: Call) => {
    const { filename, fileType, size: fileSize, hash: blob, bytes } = file
    const stream = fileStream(call.organizationId, fileKey(datastoreId, filename))
    const data = { uploadId, datastoreId, filename, fileSize, fileType, blob }
    const { position } = await transact(stream, decideReceive(data), call)
    await blobs.put(bytes())
    return { uploadId, filename, position }
  }

  return async ({ datastoreId, files }: UploadFiles, call: Call) => {
    const begun = files.map((file, n) => ({ file, uploadId: idFor(clock, call, `upload-${n}`) }))
    const begin = decideBeginUploads({
      datastoreId,
      uploads: begun.map(({ file: { filename }, uploadId }) => ({ uploadId, filename })),
    })
    const { state } = await transact(dataStoresStream(call.organizationId), begin, call)
    const { displayName } = requireDataStore(datastoreId)(state)
    const uploads = []
    for (const { file, uploadId } of begun)
      uploads.push(await take(datastoreId, file, uploadId, call))
    return {
      uploads: uploads.map(({ uploadId, filename }) => ({ uploadId, filename })),
      datastoreName: displayName,
      position: latest(...uploads.map(({ position }) => position)),
    }
  }
}
export type UploadFilesCommand = ReturnType<typeof uploadFiles>
