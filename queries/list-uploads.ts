import type { DataStoreView } from '../projections/datastores.ts'
import type { UploadView } from '../projections/uploads.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

type Reads = { uploads: View<UploadView>; datastores: View<DataStoreView> }

type Filter = {
  status?: UploadView['status'] | undefined
  datastoreId?: string | undefined
}

const pageSize = 1_000

const indexFor = ({ status, datastoreId }: Filter) => {
  if (datastoreId === undefined)
    return status === undefined
      ? { index: 'by_organization', equals: [] }
      : { index: 'by_status', equals: [status] }
  return status === undefined
    ? { index: 'by_datastore', equals: [datastoreId] }
    : { index: 'by_datastore_and_status', equals: [datastoreId, status] }
}

const fileOf = (view: UploadView) => ({
  upload_id: view.upload_id,
  filename: view.filename,
  file_size: view.file_size,
  file_type: view.file_type,
  status: view.status,
  uploaded_at: view.uploaded_at,
  indexed_at: view.indexed_at,
  error_message: view.error_message,
})

const itemOf = (view: UploadView, { display_name }: Pick<DataStoreView, 'display_name'>) => ({
  ...fileOf(view),
  datastore_id: view.datastore_id,
  datastore_name: display_name,
})

/** Uploads that are not removed, the latest first (GET /api/external/rag/uploads). */
export const listUploads =
  ({ uploads, datastores }: Reads) =>
  async (organizationId: string, filter: Filter, page: { limit: number; offset: number }) => {
    const { index, equals } = indexFor(filter)
    const { limit, offset } = page
    const { items, total } = await uploads.find({
      index,
      equals: [organizationId, ...equals, true],
      descending: true,
      skip: offset,
      limit,
    })
    const ids = [...new Set(items.map(({ datastore_id }) => datastore_id))]
    const found = new Map(
      await Promise.all(ids.map(async (id) => [id, await datastores.get(id)] as const)),
    )
    const nameless = { display_name: '' }
    return {
      uploads: items.map((view) => itemOf(view, found.get(view.datastore_id) ?? nameless)),
      total,
      limit,
      offset,
    }
  }
export type ListUploads = ReturnType<typeof listUploads>

/** @throws upload_not_found */
export const getUpload =
  ({ uploads, datastores }: Reads) =>
  async (organizationId: string, uploadId: string) => {
    const view = await uploads.get(uploadId)
    const datastore = await datastores.get(view?.datastore_id ?? '')
    if (view?.organization_id !== organizationId || !view.shown || !datastore?.shown)
      throw refusal('upload_not_found')
    return { ...itemOf(view, datastore), ready: view.status === 'completed' }
  }
export type GetUpload = ReturnType<typeof getUpload>

type Place = { organizationId: string; datastoreId: string; status?: UploadView['status'] }

/** Every upload of a DataStore that is not removed, the oldest first. */
export const uploadsIn =
  (uploads: View<UploadView>) =>
  async ({ organizationId, ...filter }: Place): Promise<UploadView[]> => {
    const { index, equals } = indexFor(filter)
    const all: UploadView[] = []
    for (;;) {
      const { items } = await uploads.find({
        index,
        equals: [organizationId, ...equals, true],
        skip: all.length,
        limit: pageSize,
      })
      all.push(...items)
      if (items.length < pageSize) return all
    }
  }
export type UploadsIn = ReturnType<typeof uploadsIn>

/** The files of a DataStore, the oldest first. */
export const listFiles = (uploads: View<UploadView>) => {
  const all = uploadsIn(uploads)
  return async (organizationId: string, datastoreId: string) => {
    const files = await all({ organizationId, datastoreId })
    return { datastore_id: datastoreId, files: files.map(fileOf), total: files.length }
  }
}
export type ListFiles = ReturnType<typeof listFiles>

/** How many uploads of a DataStore are neither completed nor failed. */
export const countUnfinished =
  (uploads: View<UploadView>) => async (organizationId: string, datastoreId: string) => {
    const counts = (['pending', 'processing', 'indexing'] as const).map(async (status) => {
      const equals = [organizationId, datastoreId, status, true]
      return (await uploads.find({ index: 'by_datastore_and_status', equals, limit: 1 })).total
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
export type CountUnfinished = ReturnType<typeof countUnfinished>
