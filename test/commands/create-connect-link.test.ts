import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { shopCall } from '../support/shop-call.ts'

const { createAgent, createConnectLink, appended, organization, secrets } = await commanding(t)
const returnUrl = 'https://example.com'

/** A provisioned user, and an agent that needs two credentials of its users. */
const scene = async () => {
  const home = await organization()
  const shop = shopCall('https://shop.example', 'TOKEN', 'OTHER')
  const tools = [shop, 'remember' as const]
  const { agentId } = await createAgent({ name: 'Shopper', tools }, home.by)
  return { ...home, agentId, userId: await home.provisioned() }
}

t.test('a link holds for half an hour, and its token is not stored', async (t) => {
  const { by, organizationId, userId, agentId } = await scene()
  let token = ''
  const events = await appended(async () => {
    token = (await createConnectLink({ userId, agentId, returnUrl }, by)).token
  })
  t.match(events, [
    {
      type: 'ConnectLinkCreated',
      data: {
        tokenHash: secrets.hashLinkToken(token),
        agentId,
        returnUrl,
        expiresAt: '2026-01-01T00:30:00.000Z',
      },
      stream: `connect-${organizationId}_${userId}`,
    },
  ])
  t.notMatch(JSON.stringify(events), token)
})

t.test('refusals', async (t) => {
  const { by, member, userId, agentId } = await scene()
  const plain = await createAgent({ name: 'Plain', tools: ['recall'] }, by)
  const link = { userId, agentId, returnUrl }
  const refused = (more: Partial<typeof link>, code: string, facts = {}) =>
    t.rejects(createConnectLink({ ...link, ...more }, by), { code, facts })
  await refused({ userId: 'none' }, 'user_not_found')
  await refused({ userId: await member() }, 'not_provisioned')
  const events = await appended(async () => {
    await refused({ agentId: 'none' }, 'agent_not_found')
    const skipped = [{ name: 'recall', reason: 'provided_by_system' }]
    await refused({ agentId: plain.agentId }, 'nothing_to_connect', { skipped })
  })
  t.strictSame(events, [])
})
