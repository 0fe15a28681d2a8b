import { createHash } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import type { GetUpload } from '../../../queries/get-upload.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import type { Delegate } from '../../security/delegate.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { StorageQuotas } from '../../turns/begin/storage-quotas.ts'
import type { UploadAndEnqueue } from '../../workers/upload-and-enqueue.ts'
import { decodedFiles, type KeepFile } from '../wire/base64-files.ts'
import { filename } from '../wire/knowledge.ts'
import type { Upload } from './answers.ts'

type Uses = {
  /** Resolves when the views show the upload, which is indexed afterwards. */
  uploadAndEnqueue: UploadAndEnqueue
  getUpload: GetUpload
  quotas: Pick<StorageQuotas, 'require'>
  delegate: Delegate
}

const lookMs = 200
/** A client is sent its file's status for 10 minutes at most. */
const mostLooks = 3_000

/** A file stays in memory, since its frame does. */
const inMemory: KeepFile = async (bytes) => {
  const pieces: Uint8Array[] = []
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of bytes) {
    pieces.push(piece)
    hash.update(piece)
    size += piece.length
    await yieldToEventLoop()
  }
  return {
    size,
    hash: hash.digest('hex'),
    async *bytes() {
      yield* pieces
    },
  }
}

/** Uploads a file that was sent over a socket, by the rules of POST /rag/upload. */
export const socketUpload =
  ({ uploadAndEnqueue, getUpload, quotas, delegate }: Uses): Upload =>
  async (asker, { datastoreId, onBehalfOf, ...sent }) => {
    const name = filename.safeParse(sent.filename)
    if (!name.success)
      throw refusal('invalid_input', {
        field: 'filename',
        message: `filename: ${name.error.issues[0]?.message}`,
      })
    const files = await decodedFiles([{ ...sent, filename: name.data }], inMemory)
    const { call } = await delegate(asker, onBehalfOf)
    await quotas.require(asker.access, files[0]?.size)
    const { uploads } = await uploadAndEnqueue({ datastoreId, files }, call)
    const [upload] = uploads

    const look = async () => {
      try {
        return await getUpload(call.organizationId, upload?.uploadId ?? '')
      } catch (error) {
        if (error instanceof Refusal) return undefined
        throw error
      }
    }

    /** Each new status, until the file is completed, failed or removed. */
    async function* statuses() {
      let last = ''
      for (let n = 0; n < mostLooks; n++) {
        const state = await look()
        if (!state) return
        const { upload_id, filename, datastore_id, status, error_message } = state
        if (status !== last) yield { upload_id, filename, datastore_id, status, error_message }
        if (status === 'completed' || status === 'failed') return
        last = status
        await after(lookMs, undefined, { ref: false })
      }
    }
    return statuses()
  }
