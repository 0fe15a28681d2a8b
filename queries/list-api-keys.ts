import type { ApiKeyView } from '../projections/api-keys.ts'
import type { Find, View } from '../src/ports/views.ts'
import { apiKeyAnswer } from './get-api-key.ts'
import { type Page, paging, skipTo } from './page.ts'

/** A page of the keys in an index. */
export const keysIn = async (
  apiKeys: View<ApiKeyView>,
  of: Pick<Find, 'index' | 'equals'>,
  page: Page,
) => {
  const { items, total } = await apiKeys.find({ ...of, skip: skipTo(page), limit: page.pageSize })
  return { api_keys: items.map(apiKeyAnswer), ...paging(total, page) }
}

/** An organization's keys, the oldest first; expired ones too, revoked ones not. */
export const listApiKeys =
  ({ apiKeys }: { apiKeys: View<ApiKeyView> }) =>
  (organizationId: string, page: Page) =>
    keysIn(apiKeys, { index: 'by_organization', equals: [organizationId] }, page)
export type ListApiKeys = ReturnType<typeof listApiKeys>
