import type { UploadFilesCommand } from '../../commands/upload-files.ts'
import type { WaitForPosition } from '../ports/views.ts'

type Uses = {
  uploadFiles: UploadFilesCommand
  waitForPosition: WaitForPosition
  /** Has these uploads indexed; the views show them. */
  index(organizationId: string, uploadIds: readonly string[]): void
}

/**
 * Takes files in, as the command does, and has them indexed. Resolves when the views show the
 * uploads, which are indexed afterwards. @throws what the command throws
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
