import t from 'tap'
import { platformGiver } from '../../src/domain/api-key/who-may.ts'
import { commanding } from '../support/commanding.ts'
import { apiKeySettings, giver } from '../support/key-settings.ts'

const { changeApiKey, createApiKey, revokeApiKey, appendedOnce, organization } = await commanding(t)
const change = { scopes: ['rag:read' as const], rateLimitMinute: 5 }

t.test('the changes of an organization key are stored in its organization', async (t) => {
  const { by, organizationId } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  const command = {
    keyId,
    type: 'organization',
    change: { ...change, name: 'Key' },
    by: platformGiver,
  } as const
  const events = await appendedOnce(t, (call) => changeApiKey(command, call), by)
  const stream = `apikey-${organizationId}_${keyId}`
  t.strictSame(events, [{ type: 'ApiKeyChanged', data: change, stream }])
})

t.test('the changes of a user key are stored in no organization', async (t) => {
  const { by } = await organization()
  const { keyId } = await createApiKey({ ...apiKeySettings, type: 'user' }, by)
  const command = { keyId, type: 'user', change, by: platformGiver } as const
  const [event] = await appendedOnce(t, (call) => changeApiKey(command, call), by)
  t.match(event, { type: 'ApiKeyChanged', stream: `apikey-user_${keyId}` })
})

t.test('refusals', async (t) => {
  const { by } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  const command = { keyId, type: 'organization', change, by: platformGiver } as const
  const elsewhere = { ...by, organizationId: 'elsewhere' }
  await t.rejects(changeApiKey(command, elsewhere), { code: 'key_not_found' })
  const late = { ...command, change: { expiresAt: '2020-01-01T00:00:00.000Z' } }
  await t.rejects(changeApiKey(late, by), { code: 'invalid_input', message: /in the past/ })
  await revokeApiKey({ keyId, by: platformGiver }, by)
  await t.rejects(changeApiKey(command, by), { code: 'key_not_found' })
})

t.test('only owners change and revoke a key that an owner backs', async (t) => {
  const { by, ownerId, member } = await organization()
  const annId = await member('ADMIN')
  const { keyId } = await createApiKey(apiKeySettings, by)
  const ofAnn = await createApiKey({ ...apiKeySettings, userId: annId }, by)
  const command = { type: 'organization', change: { name: 'New' } } as const
  const ann = giver(annId, 'ADMIN')
  const asAnn = { ...by, userId: annId }
  await t.rejects(changeApiKey({ ...command, keyId, by: ann }, asAnn), { code: 'owner_required' })
  await t.rejects(revokeApiKey({ keyId, by: ann }, asAnn), { code: 'owner_required' })
  await changeApiKey({ ...command, keyId: ofAnn.keyId, by: ann }, asAnn)
  await changeApiKey({ ...command, keyId, by: giver(ownerId, 'OWNER') }, by)
  await revokeApiKey({ keyId, by: giver(ownerId, 'OWNER') }, by)
})
