import type { ApiKeyView } from '../projections/api-keys.ts'
import type { Find, View } from '../src/ports/views.ts'
import { problem } from '../src/problems.ts'
import { type Page, paging, skipTo } from './page.ts'

/** All but what would help to guess the key. */
const shown = ({ hash: _, organization_id: __, ...key }: ApiKeyView) => key

const listed = async (
  apiKeys: View<ApiKeyView>,
  of: Pick<Find, 'index' | 'equals'>,
  page: Page,
) => {
  const { items, total } = await apiKeys.find({ ...of, skip: skipTo(page), limit: page.pageSize })
  return { api_keys: items.map(shown), ...paging(total, page) }
}

/** An organization's keys, the oldest first; expired ones too, revoked ones not. */
export const listApiKeys = (apiKeys: View<ApiKeyView>) => (organizationId: string, page: Page) =>
  listed(apiKeys, { index: 'by_organization', equals: [organizationId] }, page)
export type ListApiKeys = ReturnType<typeof listApiKeys>

/** A user's user keys, the oldest first. */
export const listUserKeys = (apiKeys: View<ApiKeyView>) => (userId: string, page: Page) =>
  listed(apiKeys, { index: 'by_user', equals: [userId, 'user'] }, page)
export type ListUserKeys = ReturnType<typeof listUserKeys>

/** A key of an organization. @throws key_not_found */
export const getApiKey =
  (apiKeys: View<ApiKeyView>) => async (organizationId: string, keyId: string) => {
    const key = await apiKeys.get(keyId)
    if (key?.organization_id !== organizationId) throw problem('key_not_found')
    return shown(key)
  }
export type GetApiKey = ReturnType<typeof getApiKey>
