import type { UploadFilesCommand } from '../../commands/upload-files.ts'
import type { IndexUploads } from './index-uploads.ts'

type Uses = {
  /** Resolves when the views show the uploads. */
  uploadFiles: UploadFilesCommand
  enqueue: IndexUploads['add']
}

/**
 * Stores the files of a request and enqueues them for indexing. Resolves before they are indexed.
 * @throws the refusals of the command
 */
export const uploadAndEnqueue =
  ({ uploadFiles, enqueue }: Uses): UploadFilesCommand =>
  async (upload, call) => {
    const result = await uploadFiles(upload, call)
    enqueue(
      call.organizationId,
      result.uploads.map(({ uploadId }) => uploadId),
    )
    return result
  }
export type UploadAndEnqueue = ReturnType<typeof uploadAndEnqueue>
