import type { UploadView } from '../projections/uploads.ts'
import type { View } from '../src/ports/views.ts'

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
