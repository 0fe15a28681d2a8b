import type { UploadFilesCommand } from '../../commands/upload-files.ts'
import type { IndexUploads } from './index-uploads.ts'

type Uses = {
  /** Resolves when the views show the uploads. */
  uploadFiles: UploadFilesCommand
  index: IndexUploads['add']
}

/**
 * Stores the files of a request and enqueues them. Resolves before they are indexed. @throws what the command throws
 */
export const uploadAndIndex =
  ({ uploadFiles, index }: Uses): UploadFilesCommand =>
  async (upload, call) => {
    const taken = await uploadFiles(upload, call)
    index(
      call.organizationId,
      taken.uploads.map(({ uploadId }) => uploadId),
    )
    return taken
  }
export type UploadAndIndex = ReturnType<typeof uploadAndIndex>
