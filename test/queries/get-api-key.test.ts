import t from 'tap'
import { apiKeys } from '../../projections/api-keys.ts'
import { members } from '../../projections/members.ts'
import { getApiKey } from '../../queries/get-api-key.ts'
import { apiKeyEvents } from '../../src/domain/api-key/events.ts'
import { sampleOf } from '../support/events.ts'
import { viewAfter } from '../support/view-after.ts'

const keyOf = (type: 'organization' | 'user', stream: string) =>
  viewAfter(apiKeys, stream, sampleOf(apiKeyEvents, 'ApiKeyCreated', { type, userId: 'user-1' }))
const added = { type: 'MemberAdded', data: { role: 'MEMBER', status: 'active' } } as const
const ofMember = viewAfter(members, 'member-org-1_user-1', added)

const platform = { platform: true, userId: null }
const user = (userId: string) => ({ platform: false, userId })

t.test('a key of the organization, for all who may ask', async (t) => {
  const get = getApiKey({ apiKeys: keyOf('organization', 'apikey-org-1_key-1'), members: ofMember })
  const key = await get('org-1', 'key-1', user('user-2'))
  t.match(key, { key_id: 'key-1', type: 'organization' })
  t.notOk('hash' in key || 'organization_id' in key)
  await t.rejects(get('org-2', 'key-1', platform), { code: 'key_not_found' })
  await t.rejects(get('org-1', 'key-2', platform), { code: 'key_not_found' })
})

t.test('a user key of a member, for the member and the platform', async (t) => {
  const get = getApiKey({ apiKeys: keyOf('user', 'apikey-user_key-1'), members: ofMember })
  t.match(await get('org-1', 'key-1', user('user-1')), { type: 'user', user_id: 'user-1' })
  t.match(await get('org-1', 'key-1', platform), { type: 'user' })
  await t.rejects(get('org-1', 'key-1', user('user-2')), { code: 'key_not_found' })
  await t.rejects(get('org-2', 'key-1', platform), { code: 'key_not_found' })
})
