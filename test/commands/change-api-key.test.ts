import t from 'tap'
import { platformGiver } from '../../src/domain/api-key/who-may.ts'
import { commanding } from '../support/commanding.ts'
import { apiKeySettings, giver } from '../support/key-settings.ts'

const { changeApiKey, createApiKey, revokeApiKey, appendedOnce, organization } = await commanding(t)
const change = { scopes: ['rag:read' as const], rateLimitMinute: 5 }

t.test('what differs of an organization key is stored in its organization', async (t) => {
  const { by, organizationId } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  const asked = {
    keyId,
    type: 'organization',
    change: { ...change, name: 'Key' },
    by: platformGiver,
  } as const
  const events = await appendedOnce(t, (call) => changeApiKey(asked, call), by)
  const stream = `apikey-${organizationId}_${keyId}`
  t.strictSame(events, [{ type: 'ApiKeyChanged', data: change, stream }])
})

t.test('and that of a user key in no organization', async (t) => {
  const { by } = await organization()
  const { keyId } = await createApiKey({ ...apiKeySettings, type: 'user' }, by)
  const asked = { keyId, type: 'user', change, by: platformGiver } as const
  const [event] = await appendedOnce(t, (call) => changeApiKey(asked, call), by)
  t.match(event, { type: 'ApiKeyChanged', stream: `apikey-user_${keyId}` })
})

t.test('refusals', async (t) => {
  const { by } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  const asked = { keyId, type: 'organization', change, by: platformGiver } as const
  const elsewhere = { ...by, organizationId: 'elsewhere' }
  await t.rejects(changeApiKey(asked, elsewhere), { code: 'key_not_found' })
  const late = { ...asked, change: { expiresAt: '2020-01-01T00:00:00.000Z' } }
  await t.rejects(changeApiKey(late, by), { code: 'invalid_input', message: /in the past/ })
  await revokeApiKey({ keyId, by: platformGiver }, by)
  await t.rejects(changeApiKey(asked, by), { code: 'key_not_found' })
})

t.test('what an owner backs is changed and revoked by owners', async (t) => {
  const { by, ownerId, member } = await organization()
  const annId = await member('ADMIN')
  const { keyId } = await createApiKey(apiKeySettings, by)
  const ofAnn = await createApiKey({ ...apiKeySettings, userId: annId }, by)
  const asked = { type: 'organization', change: { name: 'New' } } as const
  const ann = giver(annId, 'ADMIN')
  const asAnn = { ...by, userId: annId }
  await t.rejects(changeApiKey({ ...asked, keyId, by: ann }, asAnn), { code: 'owner_required' })
  await t.rejects(revokeApiKey({ keyId, by: ann }, asAnn), { code: 'owner_required' })
  await changeApiKey({ ...asked, keyId: ofAnn.keyId, by: ann }, asAnn)
  await changeApiKey({ ...asked, keyId, by: giver(ownerId, 'OWNER') }, by)
  await revokeApiKey({ keyId, by: giver(ownerId, 'OWNER') }, by)
})
