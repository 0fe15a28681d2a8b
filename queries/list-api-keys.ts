import type { ApiKeyView } from '../projections/api-keys.ts'
import { type MemberView, memberDocumentId } from '../projections/members.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Find, View } from '../src/ports/views.ts'
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

/** Who asks for a key: a user; or the platform, which works for every user. */
type Asker = { platform: boolean; userId: string | null }

/**
 * A key of an organization, or a user key of one of its members; that exists only for the member
 * and the platform. @throws key_not_found
 */
export const getApiKey =
  (apiKeys: View<ApiKeyView>, members: View<MemberView>) =>
  async (organizationId: string, keyId: string, { platform, userId }: Asker) => {
    const key = await apiKeys.get(keyId)
    if (!key) throw refusal('key_not_found')
    const own = platform || key.user_id === userId
    const reached =
      key.type === 'user'
        ? own && (await members.get(memberDocumentId(organizationId, key.user_id)))
        : key.organization_id === organizationId
    if (!reached) throw refusal('key_not_found')
    return shown(key)
  }
export type GetApiKey = ReturnType<typeof getApiKey>
