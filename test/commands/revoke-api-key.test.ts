import t from 'tap'
import { platformGiver } from '../../src/domain/api-key/who-may.ts'
import { commanded } from '../support/commanded.ts'
import { commanding } from '../support/commanding.ts'
import { apiKeySettings } from '../support/key-settings.ts'
import { platformCall } from '../support/recorded.ts'

const { createApiKey, revokeApiKey, appendedOnce, organization } = await commanding(t)

t.test('a key is revoked once', async (t) => {
  const { by, organizationId } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  const elsewhere = { ...by, organizationId: 'elsewhere' }
  await t.rejects(revokeApiKey({ keyId, by: platformGiver }, elsewhere), { code: 'key_not_found' })
  const events = await appendedOnce(
    t,
    (call) => revokeApiKey({ keyId, by: platformGiver }, call),
    by,
  )
  const stream = `apikey-${organizationId}_${keyId}`
  t.strictSame(events, [{ type: 'ApiKeyRevoked', data: {}, stream }])
  await t.rejects(revokeApiKey({ keyId, by: platformGiver }, by), { code: 'key_not_found' })
})

t.test('changing and revoking, as it is seen', async (t) => {
  const { createOrganization, createApiKey, changeApiKey, revokeApiKey, read, seen } =
    await commanded(t)
  const owner = { email: 'owner@example.com' }
  const home = await createOrganization({ name: 'Acme', owner }, platformCall)
  const by = {
    ...platformCall,
    organizationId: home.organizationId,
    userId: home.ownerUserId,
  }
  const { keyId } = await createApiKey(apiKeySettings, by)
  const change = { scopes: ['rag:read' as const], rateLimitMinute: 5 }
  await changeApiKey({ keyId, type: 'organization', change, by: platformGiver }, by)
  await seen()
  t.match(await read.apiKeys.get(keyId), { scopes: ['rag:read'], rate_limit_minute: 5 })
  await revokeApiKey({ keyId, by: platformGiver }, by)
  await seen()
  t.equal(await read.apiKeys.get(keyId), undefined)
})
