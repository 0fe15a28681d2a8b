import {
  dataStoresStream,
  decideBeginUploads,
  requireDataStore,
} from '../src/domain/datastore/datastore.ts'
import { latest } from '../src/domain/event.ts'
import { decideReceive, fileStream } from '../src/domain/file/file.ts'
import type { FileType } from '../src/domain/file/types.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { KeyDestroyed } from '../src/ports/keys.ts'
import type { SealedBlobs } from '../src/security/sealed-blobs.ts'
import { datastoreKey } from '../src/security/vault.ts'
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

/** The DataStore, and with it its key, was deleted meanwhile. */
const unlessDeleted = (error: unknown): never => {
  throw error instanceof KeyDestroyed ? refusal('datastore_not_found') : error
}

type Uses = { transact: Transact; clock: Clock; blobs: SealedBlobs }

/**
 * Receives files, those of one name in order. First the DataStore is marked as in use, so that it
 * cannot be deleted. Then the event is stored, then the bytes, sealed under the DataStore's key: no
 * bytes are stored without an event. Without its bytes, an upload fails later unless the request is
 * repeated. @throws datastore_not_found, StoreUnavailable
 */
export const uploadFiles = ({ transact, clock, blobs }: Uses) => {
  const storeFile = async (
    datastoreId: string,
    file: ArrivedFile,
    uploadId: string,
    call: Call,
  ) => {
    const { filename, fileType, size: fileSize, hash, bytes } = file
    const documents = blobs.under(datastoreKey(call.organizationId, datastoreId))
    const blob = await documents.nameOf(hash)
    const stream = fileStream(call.organizationId, fileKey(datastoreId, filename))
    const data = { uploadId, datastoreId, filename, fileSize, fileType, blob }
    const { position } = await transact(stream, decideReceive(data), call)
    await documents.put(bytes())
    return { uploadId, filename, position }
  }

  return async ({ datastoreId, files }: UploadFiles, call: Call) => {
    const arrivals = files.map((file, n) => ({ file, uploadId: idFor(clock, call, `upload-${n}`) }))
    const decide = decideBeginUploads({
      datastoreId,
      uploads: arrivals.map(({ file: { filename }, uploadId }) => ({ uploadId, filename })),
    })
    const { state } = await transact(dataStoresStream(call.organizationId), decide, call)
    const { displayName } = requireDataStore(datastoreId)(state)
    const uploads = []
    for (const { file, uploadId } of arrivals)
      uploads.push(await storeFile(datastoreId, file, uploadId, call).catch(unlessDeleted))
    return {
      uploads: uploads.map(({ uploadId, filename }) => ({ uploadId, filename })),
      datastoreName: displayName,
      position: latest(...uploads.map(({ position }) => position)),
    }
  }
}
export type UploadFilesCommand = ReturnType<typeof uploadFiles>
