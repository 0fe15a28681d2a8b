import type { ApiKeyView } from '../projections/api-keys.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'

/** The ids of an organization's keys that a user backs. */
export const listBackedKeys =
  ({ apiKeys }: { apiKeys: View<ApiKeyView> }) =>
  async (organizationId: string, userId: string): Promise<string[]> => {
    const backed = await findAll(apiKeys, { index: 'by_user', equals: [userId, 'organization'] })
    return backed.flatMap((key) => (key.organization_id === organizationId ? key.key_id : []))
  }
export type ListBackedKeys = ReturnType<typeof listBackedKeys>
