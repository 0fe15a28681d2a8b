import { setTimeout as after } from 'node:timers/promises'
import type { UploadFilesCommand } from '../../../commands/upload-files.ts'
import type { GetUpload } from '../../../queries/list-uploads.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Delegate } from '../../security/delegate.ts'
import { decodedFiles } from '../checks/arrived-files.ts'
import { filename } from '../wire/knowledge.ts'
import type { Upload } from './answers.ts'

type Uses = {
  uploadFiles: UploadFilesCommand
  getUpload: GetUpload
  delegate: Delegate
  /** There is something to be done about these uploads. */
  toDo(uploadIds: readonly string[]): void
  waitForPosition: WaitForPosition
}

const lookMs = 200
/** However long other documents take, a client is told of its own no longer than this. */
const mostLooks = 3_000

/** Takes in a file that came over a socket, by the rules of POST /rag/upload. */
export const socketUpload =
  ({ uploadFiles, getUpload, delegate, toDo, waitForPosition }: Uses): Upload =>
  async (asker, { datastoreId, onBehalfOf, ...sent }) => {
    const name = filename.safeParse(sent.filename)
    if (!name.success)
      throw refusal('invalid_input', {
        field: 'filename',
        message: `filename: ${name.error.issues[0]?.message}`,
      })
    const files = decodedFiles([{ ...sent, filename: name.data }])
    const { call } = await delegate(asker, onBehalfOf)
    const { uploads, position } = await uploadFiles({ datastoreId, files }, call)
    await waitForPosition(position)
    const ids = uploads.map(({ uploadId }) => uploadId)
    toDo(ids)

    const look = async () => {
      try {
        return await getUpload(call.organizationId, ids[0] ?? '')
      } catch (error) {
        if (error instanceof Refusal) return undefined
        throw error
      }
    }

    /** Every status that is seen, until it is over or the file is removed. */
    async function* statuses() {
      let last = ''
      for (let n = 0; n < mostLooks; n++) {
        const found = await look()
        if (!found) return
        const { upload_id, filename, datastore_id, status, error_message } = found
        if (status !== last) yield { upload_id, filename, datastore_id, status, error_message }
        if (status === 'completed' || status === 'failed') return
        last = status
        await after(lookMs, undefined, { ref: false })
      }
    }
    return statuses()
  }
