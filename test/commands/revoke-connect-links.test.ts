import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { shopCall } from '../support/shop-call.ts'

const { createAgent, createConnectLink, revokeConnectLinks, appendedOnce, organization } =
  await commanding(t)

t.test('all links are revoked at once', async (t) => {
  const home = await organization()
  const { by } = home
  const userId = await home.provisioned()
  const tools = [shopCall('https://shop.example', 'TOKEN')]
  const { agentId } = await createAgent({ name: 'Shopper', tools }, by)
  const link = { userId, agentId, returnUrl: 'https://example.com' }
  const ids = [
    (await createConnectLink(link, by)).linkId,
    (await createConnectLink(link, by)).linkId,
  ]
  const events = await appendedOnce(t, (call) => revokeConnectLinks({ userId }, call), by)
  t.match(events, [{ type: 'ConnectLinksRevoked', data: { linkIds: ids } }])
  t.match(await revokeConnectLinks({ userId }, by), { revoked: 0 })
})
