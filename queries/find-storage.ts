import { type StorageView, storageTotalId } from '../projections/storage.ts'
import type { View } from '../src/ports/views.ts'

/** How many bytes are stored for an organization: files and sealed texts. */
export const findStorage =
  ({ storage }: { storage: Pick<View<StorageView>, 'get'> }) =>
  async (organizationId: string): Promise<number> =>
    (await storage.get(storageTotalId(organizationId)))?.bytes ?? 0
export type FindStorage = ReturnType<typeof findStorage>
