import { dataStoresStream, decideFinishUploads } from '../src/domain/datastore/datastore.ts'
import type { FileEvent } from '../src/domain/file/events.ts'
import {
  decideComplete,
  decideEmbed,
  decideErase,
  decideFail,
  decideIndex,
  decideReplaceChunks,
  decideRequeue,
  decideReread,
  decideRetry,
  decideStart,
  fileStream,
  hasVectors,
  isRereading,
} from '../src/domain/file/file.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

/** Which upload, and the file that it is one of. */
export type FollowedUpload = { uploadId: string; datastoreId: string; filename: string }

type Embedded = Omit<FileEvent<'UploadEmbedded'>['data'], 'uploadId' | 'datastoreId'>

type Reread = Omit<FileEvent<'UploadRereadingStarted'>['data'], 'uploadId' | 'datastoreId'>

type Failed = Omit<FileEvent<'UploadFailed'>['data'], 'uploadId' | 'datastoreId'>

type Replaced = Omit<FileEvent<'UploadReread'>['data'], 'uploadId' | 'datastoreId'>

type Made = Omit<FileEvent<'UploadIndexingStarted'>['data'], 'uploadId' | 'datastoreId'>

/** What becomes of an upload once it is received, step by step. */
export const followUpload = (transact: Transact) => {
  const streamOf = ({ datastoreId, filename }: FollowedUpload, { organizationId }: Call) =>
    fileStream(organizationId, fileKey(datastoreId, filename))
  /** The DataStore's own stream knows what is under way in it. */
  const finished = async <Done>(one: FollowedUpload, done: Done, call: Call): Promise<Done> => {
    const { uploadId, datastoreId } = one
    const finish = decideFinishUploads({ datastoreId, uploadIds: [uploadId] })
    await transact(dataStoresStream(call.organizationId), finish, call)
    return done
  }
  const identity = ({ uploadId, datastoreId }: FollowedUpload) => ({ uploadId, datastoreId })

  return {
    requeue: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideRequeue(one), call),
    start: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideStart(one), call),
    index: (one: FollowedUpload, made: Made, call: Call) =>
      transact(streamOf(one, call), decideIndex({ ...identity(one), ...made }), call),
    complete: async (one: FollowedUpload, call: Call) =>
      finished(one, await transact(streamOf(one, call), decideComplete(one), call), call),
    /** `wanted`: the vectors are to be stored. False if the upload was replaced or removed. */
    embed: async (one: FollowedUpload, embedded: Embedded, call: Call) => {
      const decide = decideEmbed({ ...identity(one), ...embedded })
      const { state, position } = await transact(streamOf(one, call), decide, call)
      return { wanted: hasVectors(state, one.uploadId, embedded.vectorsBlob), position }
    },
    /** `wanted`: the chunks are to be stored. False if the upload was replaced or removed. */
    reread: async (one: FollowedUpload, reread: Reread, call: Call) => {
      const decide = decideReread({ ...identity(one), ...reread })
      const { state } = await transact(streamOf(one, call), decide, call)
      return { wanted: isRereading(state, one.uploadId, reread.chunksBlob) }
    },
    /** Searches what this reader has found: the announced chunks, or those of before. */
    replaceChunks: (one: FollowedUpload, replaced: Replaced, call: Call) =>
      transact(streamOf(one, call), decideReplaceChunks({ ...identity(one), ...replaced }), call),
    /** Queues an upload that has failed, and that a later reader can read. */
    retry: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideRetry(identity(one)), call),
    fail: async (one: FollowedUpload, failed: Failed, call: Call) => {
      const decide = decideFail({ ...identity(one), ...failed })
      return finished(one, await transact(streamOf(one, call), decide, call), call)
    },
    erase: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideErase(one), call),
  }
}
export type FollowUploadCommands = ReturnType<typeof followUpload>
