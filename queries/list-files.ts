import type { UploadView } from '../projections/uploads.ts'
import type { View } from '../src/ports/views.ts'
import { findUploads } from './find-uploads.ts'

export const fileOf = (view: UploadView) => ({
  upload_id: view.upload_id,
  filename: view.filename,
  file_size: view.file_size,
  file_type: view.file_type,
  status: view.status,
  uploaded_at: view.uploaded_at,
  indexed_at: view.indexed_at,
  error_message: view.error_message,
})

/** The files of a DataStore, the oldest first. */
export const listFiles = (uploads: View<UploadView>) => {
  const all = findUploads(uploads)
  return async (organizationId: string, datastoreId: string) => {
    const files = await all({ organizationId, datastoreId })
    return { datastore_id: datastoreId, files: files.map(fileOf), total: files.length }
  }
}
export type ListFiles = ReturnType<typeof listFiles>
