import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { shopCall } from '../support/shop-call.ts'

const { connectCredentials, createAgent, createConnectLink, removeMember, appended, organization } =
  await commanding(t)
const values = [
  { name: 'TOKEN', value: 'secret', hosts: ['shop.example'] },
  { name: 'OTHER', value: 'more', hosts: [] },
]

const linked = async () => {
  const home = await organization()
  const userId = await home.provisioned()
  const returnUrl = 'https://example.com'
  const shop = shopCall('https://shop.example', 'TOKEN')
  const { agentId } = await createAgent({ name: 'Shopper', tools: [shop] }, home.by)
  const { linkId } = await createConnectLink({ userId, agentId, returnUrl }, home.by)
  return { ...home, userId, linkId }
}

t.test('every value is stored, or put in the place of the earlier one', async (t) => {
  const { by, userId, linkId } = await linked()
  const connect = () => connectCredentials({ userId, linkId, values }, by)
  const stored = await appended(connect)
  t.strictSame(typesOf(stored), ['CredentialStored', 'CredentialStored'])
  t.match(stored, [{ data: { hosts: ['shop.example'] } }, { data: { hosts: [] } }])
  t.strictSame(typesOf(await appended(connect)), ['CredentialRotated', 'CredentialRotated'])
  const none = { userId, linkId, values: [] }
  t.strictSame(await appended(() => connectCredentials(none, by)), [])
})

t.test('refusals', async (t) => {
  const { by, userId, linkId } = await linked()
  const events = await appended(async () => {
    const later = { ...by, at: '2026-01-01T00:30:00.000Z' }
    await t.rejects(connectCredentials({ userId, linkId: 'none', values }, by), {
      code: 'connect_link_not_found',
    })
    await t.rejects(connectCredentials({ userId, linkId, values }, later), {
      code: 'connect_link_not_found',
    })
    const bad = { userId, linkId, values: [{ name: 'TOKEN', value: 'a\nb', hosts: [] }] }
    await t.rejects(connectCredentials(bad, by), { code: 'invalid_input' })
  })
  t.strictSame(events, [])
  await removeMember({ userId, by: { asOwner: true } }, by)
  await t.rejects(connectCredentials({ userId, linkId, values }, by), {
    code: 'connect_link_not_found',
  })
})
