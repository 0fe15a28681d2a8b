import { dataStoresStream, requireDataStore } from '../src/domain/datastore/datastore.ts'
import { decideReceive, fileStream } from '../src/domain/file/file.ts'
import type { FileType } from '../src/domain/file/types.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
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

type Uses = Streams & { clock: Clock; blobs: Blobs }

/**
 * Takes files in: the event first, then the bytes, so that no bytes are ever stored that the
 * history does not know; an upload whose bytes did not come fails later, unless the request is
 * repeated. Files of one name are received in the order in which they are given.
 * @throws datastore_not_found, StoreUnavailable
 */
export const uploadFiles = ({ load, transact, clock, blobs }: Uses) => {
  const take = async (datastoreId: string, file: ArrivedFile, uploadId: string, call: Call) => {
    const { filename, fileType, size: fileSize, hash: blob, bytes } = file
    const stream = fileStream(call.organizationId, fileKey(datastoreId, filename))
    const data = { uploadId, datastoreId, filename, fileSize, fileType, blob }
    const { position } = await transact(stream, decideReceive(data), call)
    await blobs.put(bytes())
    return { uploadId, filename, position }
  }

  return async ({ datastoreId, files }: UploadFiles, call: Call) => {
    const { state } = await load(dataStoresStream(call.organizationId))
    const { displayName } = requireDataStore(datastoreId)(state)
    const uploads = []
    for (const [n, file] of files.entries())
      uploads.push(await take(datastoreId, file, idFor(clock, call, `upload-${n}`), call))
    return {
      uploads: uploads.map(({ uploadId, filename }) => ({ uploadId, filename })),
      datastoreName: displayName,
      position: Math.max(...uploads.map(({ position }) => position)),
    }
  }
}
export type UploadFilesCommand = ReturnType<typeof uploadFiles>
