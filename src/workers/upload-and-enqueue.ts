import type { UploadFilesCommand } from '../../commands/upload-files.ts'
import type { IndexUploads } from './index-uploads.ts'

type Uses = {
  /** Resolves when the views show the uploads. */
  uploadFiles: UploadFilesCommand
  enqueue: IndexUploads['add']
}

/**
 * Stores the files of a request and enqueues them. Resolves before they are indexed. @throws what the command throws
 */
export const uploadAndEnqueue =
  ({ uploadFiles, enqueue }: Uses): UploadFilesCommand =>
  async (upload, call) => {
    const taken = await uploadFiles(upload, call)
    enqueue(
      call.organizationId,
      taken.uploads.map(({ uploadId }) => uploadId),
    )
    return taken
  }
export type UploadAndEnqueue = ReturnType<typeof uploadAndEnqueue>
