import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { createConnectLink, revokeConnectLinks, appended, appendedOnce, organization, secrets } =
  await commanding(t)
const returnUrl = 'https://example.com'

t.test('a link holds for half an hour, and its token is not stored', async (t) => {
  const { by, organizationId, provisioned } = await organization()
  const userId = await provisioned()
  let token = ''
  const events = await appended(async () => {
    token = (await createConnectLink({ userId, agentId: 'agent-1', returnUrl }, by)).token
  })
  t.match(events, [
    {
      type: 'ConnectLinkCreated',
      data: {
        tokenHash: secrets.hashLinkToken(token),
        agentId: 'agent-1',
        returnUrl,
        expiresAt: '2026-01-01T00:30:00.000Z',
      },
      stream: `connect-${organizationId}_${userId}`,
    },
  ])
  t.notMatch(JSON.stringify(events), token)
})

t.test('all links are revoked at once', async (t) => {
  const { by, provisioned } = await organization()
  const userId = await provisioned()
  const link = { userId, agentId: 'agent-1', returnUrl }
  const ids = [
    (await createConnectLink(link, by)).linkId,
    (await createConnectLink(link, by)).linkId,
  ]
  const events = await appendedOnce(t, (call) => revokeConnectLinks({ userId }, call), by)
  t.match(events, [{ type: 'ConnectLinksRevoked', data: { linkIds: ids } }])
  t.match(await revokeConnectLinks({ userId }, by), { revoked: 0 })
})

t.test('refusals', async (t) => {
  const { by, member } = await organization()
  const link = { agentId: 'agent-1', returnUrl }
  await t.rejects(createConnectLink({ ...link, userId: 'none' }, by), { code: 'user_not_found' })
  await t.rejects(createConnectLink({ ...link, userId: await member() }, by), {
    code: 'not_provisioned',
  })
})
