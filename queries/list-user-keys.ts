import type { ApiKeyView } from '../projections/api-keys.ts'
import type { View } from '../src/ports/views.ts'
import { keysIn } from './list-api-keys.ts'
import type { Page } from './page.ts'

/** A user's user keys, the oldest first. */
export const listUserKeys =
  ({ apiKeys }: { apiKeys: View<ApiKeyView> }) =>
  (userId: string, page: Page) =>
    keysIn(apiKeys, { index: 'by_user', equals: [userId, 'user'] }, page)
export type ListUserKeys = ReturnType<typeof listUserKeys>
