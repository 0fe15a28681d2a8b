import type { DataStoreView } from '../projections/datastores.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** @throws datastore_not_found */
export const getDatastore =
  ({ datastores }: { datastores: View<DataStoreView> }) =>
  async (organizationId: string, datastoreId: string) => {
    const datastore = await datastores.get(datastoreId)
    if (datastore?.organization_id !== organizationId || !datastore.shown)
      throw refusal('datastore_not_found')
    return datastore
  }
export type GetDatastore = ReturnType<typeof getDatastore>
