import type { ApiKeyView } from '../projections/api-keys.ts'
import { type MemberView, memberDocumentId } from '../projections/members.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** All but what would help to guess the key. */
export const apiKeyAnswer = ({ hash: _, organization_id: __, ...key }: ApiKeyView) => key

/** Who asks for a key: a user; or the platform, which works for every user. */
type KeyReader = { platform: boolean; userId: string | null }

/**
 * A key of an organization, or a user key of one of its members. A user key is found only by its
 * owner and the platform. @throws key_not_found
 */
export const getApiKey =
  ({ apiKeys, members }: { apiKeys: View<ApiKeyView>; members: View<MemberView> }) =>
  async (organizationId: string, keyId: string, { platform, userId }: KeyReader) => {
    const key = await apiKeys.get(keyId)
    if (!key) throw refusal('key_not_found')
    const own = platform || key.user_id === userId
    const reached =
      key.type === 'user'
        ? own && (await members.get(memberDocumentId(organizationId, key.user_id)))
        : key.organization_id === organizationId
    if (!reached) throw refusal('key_not_found')
    return apiKeyAnswer(key)
  }
export type GetApiKey = ReturnType<typeof getApiKey>
