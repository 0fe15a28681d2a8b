import t from 'tap'
import { platformGiver } from '../../src/domain/api-key/who-may.ts'
import { commanding } from '../support/commanding.ts'
import { apiKeySettings } from '../support/key-settings.ts'

const { recordKeyUsage, createApiKey, revokeApiKey, appended, organization } = await commanding(t)
const usage = { requests: 3, lastUsedAt: '2026-01-01T00:00:00.000Z' }

t.test('requests of a key', async (t) => {
  const { by, organizationId } = await organization()
  for (const type of ['organization', 'user'] as const) {
    const { keyId } = await createApiKey({ ...apiKeySettings, type }, by)
    const events = await appended(() => recordKeyUsage({ keyId, type, ...usage }, by))
    const place = type === 'user' ? 'user' : organizationId
    const stream = `apikey-${place}_${keyId}`
    t.strictSame(events, [{ type: 'ApiKeyUsed', data: usage, stream }])
  }
})

t.test('not of one that is revoked, or that there is not', async (t) => {
  const { by } = await organization()
  const { keyId } = await createApiKey(apiKeySettings, by)
  await revokeApiKey({ keyId, by: platformGiver }, by)
  for (const id of [keyId, 'none']) {
    const command = { keyId: id, type: 'organization', ...usage } as const
    t.strictSame(await appended(() => recordKeyUsage(command, by)), [])
  }
})
