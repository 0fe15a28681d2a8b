import type { UploadView } from '../projections/uploads.ts'
import type { View } from '../src/ports/views.ts'
import { indexFor } from './find-uploads.ts'
import { pageBytes } from './opened.ts'
import { readInOrder } from './read-in-order.ts'

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

/** The files of a DataStore, the oldest first, up to 8 MB; the total counts all. */
export const listFiles =
  ({ uploads }: { uploads: Pick<View<UploadView>, 'find'> }) =>
  async (organizationId: string, datastoreId: string) => {
    const { index, equals } = indexFor({ datastoreId })
    const of = { index, equals: [organizationId, ...equals, true] }
    const { total } = await uploads.find({ ...of, limit: 0 })
    const files: ReturnType<typeof fileOf>[] = []
    let room = pageBytes
    for await (const some of readInOrder(uploads, of)) {
      for (const file of some.map(fileOf)) {
        if (room <= 0) return { datastore_id: datastoreId, files, total }
        files.push(file)
        room -= JSON.stringify(file).length
      }
    }
    return { datastore_id: datastoreId, files, total: files.length }
  }
export type ListFiles = ReturnType<typeof listFiles>
