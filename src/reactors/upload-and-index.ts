import type { UploadFilesCommand } from '../../commands/upload-files.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { IndexUploads } from './index-uploads.ts'

type Uses = {
  uploadFiles: UploadFilesCommand
  waitForPosition: WaitForPosition
  /** The views show the uploads by then. */
  index: IndexUploads['add']
}

/**
 * What a request does that brings files: the command, then the wait for the views, then their place
 * in the reactor's queue. Resolves before they are indexed. @throws what the command throws
 */
export const uploadAndIndex =
  ({ uploadFiles, waitForPosition, index }: Uses): UploadFilesCommand =>
  async (upload, call) => {
    const taken = await uploadFiles(upload, call)
    await waitForPosition(taken.position)
    index(
      call.organizationId,
      taken.uploads.map(({ uploadId }) => uploadId),
    )
    return taken
  }
export type UploadAndIndex = ReturnType<typeof uploadAndIndex>
