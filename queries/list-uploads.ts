import { indexFor, type UploadFilter } from './find-uploads.ts'
import { type UploadUses, uploadAnswer } from './get-upload.ts'

/** Uploads that are not removed, the latest first (GET /api/external/rag/uploads). */
export const listUploads =
  ({ uploads, datastores }: UploadUses) =>
  async (organizationId: string, filter: UploadFilter, page: { limit: number; offset: number }) => {
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
    const byId = new Map(
      await Promise.all(ids.map(async (id) => [id, await datastores.get(id)] as const)),
    )
    const nameless = { display_name: '' }
    return {
      uploads: items.map((view) => uploadAnswer(view, byId.get(view.datastore_id) ?? nameless)),
      total,
      limit,
      offset,
    }
  }
export type ListUploads = ReturnType<typeof listUploads>
