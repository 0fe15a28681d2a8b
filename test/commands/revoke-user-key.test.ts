import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { apiKeySettings } from '../support/key-settings.ts'

const { createApiKey, revokeUserKey, appended, appendedOnce, organization } = await commanding(t)
const settings = { ...apiKeySettings, type: 'user' } as const

t.test('a user key is revoked, and its place is free', async (t) => {
  const { by, ownerId: userId } = await organization()
  const { keyId } = await createApiKey(settings, by)
  const events = await appendedOnce(t, (call) => revokeUserKey({ keyId, userId }, call), by)
  t.strictSame(events, [
    { type: 'ApiKeyRevoked', data: {}, stream: `apikey-user_${keyId}` },
    { type: 'UserKeyDropped', data: { keyId }, stream: `keyring-${userId}` },
  ])
})

t.test('to anyone else it does not exist', async (t) => {
  const { by, ownerId: userId } = await organization()
  const { keyId } = await createApiKey(settings, by)
  const events = await appended(() =>
    t.rejects(revokeUserKey({ keyId, userId: 'somebody' }, by), { code: 'key_not_found' }),
  )
  t.strictSame(events, [])
  await revokeUserKey({ keyId, userId }, by)
  await t.rejects(revokeUserKey({ keyId, userId }, by), { code: 'key_not_found' })
})
