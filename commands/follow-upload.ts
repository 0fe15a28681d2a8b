import { dataStoresStream, decideFinishUploads } from '../src/domain/datastore/datastore.ts'
import type { FileEvent } from '../src/domain/file/events.ts'
import {
  decideAnnounceReread,
  decideComplete,
  decideEmbed,
  decideErase,
  decideFail,
  decideFinishReread,
  decideIndex,
  decideRequeue,
  decideRetry,
  decideStart,
  fileStream,
  hasVectors,
  isRereading,
} from '../src/domain/file/file.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

/** An upload and its file. */
export type FollowedUpload = { uploadId: string; datastoreId: string; filename: string }

type DataOf<Type extends FileEvent['type']> = Omit<
  FileEvent<Type>['data'],
  'uploadId' | 'datastoreId'
>
type VectorsToStore = DataOf<'UploadEmbedded'>
type AnnouncedChunks = DataOf<'UploadRereadingStarted'>
type UploadFailure = DataOf<'UploadFailed'>
type ReplacedChunks = DataOf<'UploadReread'>
type ChunksToStore = DataOf<'UploadIndexingStarted'>

/** The steps of an upload after its arrival. */
export const followUpload = ({ transact }: { transact: Transact }) => {
  const streamOf = ({ datastoreId, filename }: FollowedUpload, { organizationId }: Call) =>
    fileStream(organizationId, fileKey(datastoreId, filename))
  /** The DataStore's own stream lists its unfinished uploads. */
  const finishUpload = async <Done>(
    upload: FollowedUpload,
    result: Done,
    call: Call,
  ): Promise<Done> => {
    const { uploadId, datastoreId } = upload
    const finish = decideFinishUploads({ datastoreId, uploadIds: [uploadId] })
    await transact(dataStoresStream(call.organizationId), finish, call)
    return result
  }
  const identity = ({ uploadId, datastoreId }: FollowedUpload) => ({ uploadId, datastoreId })

  return {
    requeue: (upload: FollowedUpload, call: Call) =>
      transact(streamOf(upload, call), decideRequeue(upload), call),
    start: (upload: FollowedUpload, call: Call) =>
      transact(streamOf(upload, call), decideStart(upload), call),
    index: (upload: FollowedUpload, chunks: ChunksToStore, call: Call) =>
      transact(streamOf(upload, call), decideIndex({ ...identity(upload), ...chunks }), call),
    complete: async (upload: FollowedUpload, call: Call) =>
      finishUpload(
        upload,
        await transact(streamOf(upload, call), decideComplete(upload), call),
        call,
      ),
    /** `wanted`: the vectors are to be stored. False if the upload was replaced or removed. */
    embed: async (upload: FollowedUpload, vectors: VectorsToStore, call: Call) => {
      const decide = decideEmbed({ ...identity(upload), ...vectors })
      const { state, position } = await transact(streamOf(upload, call), decide, call)
      return { wanted: hasVectors(state, upload.uploadId, vectors.vectorsBlob), position }
    },
    /** `wanted`: the chunks are to be stored. False if the upload was replaced or removed. */
    announceReread: async (upload: FollowedUpload, chunks: AnnouncedChunks, call: Call) => {
      const decide = decideAnnounceReread({ ...identity(upload), ...chunks })
      const { state } = await transact(streamOf(upload, call), decide, call)
      return { wanted: isRereading(state, upload.uploadId, chunks.chunksBlob) }
    },
    /** Replaces the searched chunks by the announced ones, or keeps the earlier ones. */
    finishReread: (upload: FollowedUpload, chunks: ReplacedChunks, call: Call) =>
      transact(
        streamOf(upload, call),
        decideFinishReread({ ...identity(upload), ...chunks }),
        call,
      ),
    /** Queues a failed upload that a later reader can read. */
    retry: (upload: FollowedUpload, call: Call) =>
      transact(streamOf(upload, call), decideRetry(identity(upload)), call),
    fail: async (upload: FollowedUpload, failure: UploadFailure, call: Call) => {
      const decide = decideFail({ ...identity(upload), ...failure })
      return finishUpload(upload, await transact(streamOf(upload, call), decide, call), call)
    },
    erase: (upload: FollowedUpload, call: Call) =>
      transact(streamOf(upload, call), decideErase(upload), call),
  }
}
export type FollowUploadCommands = ReturnType<typeof followUpload>
