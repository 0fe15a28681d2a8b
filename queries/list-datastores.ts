import type { DataStoreView } from '../projections/datastores.ts'
import type { View } from '../src/ports/views.ts'
import { pageBytes } from './opened.ts'

const most = 100_000

const itemOf = (view: DataStoreView) => ({
  datastore_id: view.datastore_id,
  display_name: view.display_name,
  description: view.description,
  document_count: view.document_count,
  created_at: view.created_at,
  is_active: view.is_active,
})

/**
 * All DataStores of an organization, the oldest first, up to 8 MB; the total counts all (GET
 * /api/external/rag/datastores).
 */
export const listDatastores =
  ({ datastores }: { datastores: View<DataStoreView> }) =>
  async (organizationId: string) => {
    const { items, total } = await datastores.find({
      index: 'by_organization',
      equals: [organizationId, true],
      limit: most,
      bytes: pageBytes,
    })
    return { datastores: items.map(itemOf), total }
  }
export type ListDatastores = ReturnType<typeof listDatastores>
