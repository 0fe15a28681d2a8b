import type { FileEvent } from '../src/domain/file/events.ts'
import {
  decideComplete,
  decideEmbed,
  decideErase,
  decideFail,
  decideIndex,
  decideRequeue,
  decideStart,
  fileStream,
  hasVectors,
} from '../src/domain/file/file.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

/** Which upload, and the file that it is one of. */
export type FollowedUpload = { uploadId: string; datastoreId: string; filename: string }

type Embedded = Pick<FileEvent<'UploadEmbedded'>['data'], 'model' | 'dimensions' | 'vectorsBlob'>

type Made = Pick<FileEvent<'UploadIndexingStarted'>['data'], 'chunks' | 'chunksBlob'>

/** What becomes of an upload once it is received, step by step. */
export const followUpload = (transact: Transact) => {
  const streamOf = ({ datastoreId, filename }: FollowedUpload, { organizationId }: Call) =>
    fileStream(organizationId, fileKey(datastoreId, filename))
  const identity = ({ uploadId, datastoreId }: FollowedUpload) => ({ uploadId, datastoreId })

  return {
    requeue: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideRequeue(one), call),
    start: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideStart(one), call),
    index: (one: FollowedUpload, made: Made, call: Call) =>
      transact(streamOf(one, call), decideIndex({ ...identity(one), ...made }), call),
    complete: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideComplete(one), call),
    /** Whether the vectors are to be stored; they are not of what is replaced or removed. */
    embed: async (one: FollowedUpload, embedded: Embedded, call: Call) => {
      const decide = decideEmbed({ ...identity(one), ...embedded })
      const { state, position } = await transact(streamOf(one, call), decide, call)
      return { wanted: hasVectors(state, one.uploadId, embedded.vectorsBlob), position }
    },
    fail: (one: FollowedUpload, reason: string, call: Call) =>
      transact(streamOf(one, call), decideFail({ ...identity(one), reason }), call),
    erase: (one: FollowedUpload, call: Call) =>
      transact(streamOf(one, call), decideErase(one), call),
  }
}
export type FollowUploadCommands = ReturnType<typeof followUpload>
