import t from 'tap'
import { approvalScene } from '../../support/approval-scene.ts'

t.test('GET /api/admin/organizations/{id}/attention is for the managers of one', async (t) => {
  const scene = await approvalScene(t, { approver: 'admin' })
  const { organization, server, key } = scene
  await scene.requestRefund('s')
  const path = (of: string) => `/api/admin/organizations/${of}/attention`
  const own = path(organization.organizationId)
  const looked = await key.ask('GET', own)
  t.match(looked, {
    status: 200,
    body: {
      pending_approvals: {
        total: 1,
        for_admins: 1,
        items: [{ session_id: 's', user_id: organization.ownerId, tool_name: 'refund' }],
      },
      runs_in_doubt: { total: 0 },
      failed_uploads: { total: 0 },
      unreadable_events: { total: 0 },
    },
  })
  t.notMatch(JSON.stringify(looked.body), /A-1/, 'no arguments')

  const other = await server.platform.organization()
  const stranger = await other.key({ type: 'user', user_id: other.ownerId })
  t.match(await stranger.ask('GET', own), { status: 403, code: 'organization_access_denied' })
  t.match(await stranger.ask('GET', path(other.organizationId)), {
    body: { pending_approvals: { total: 0, items: [] } },
  })
  t.match(await (await scene.member()).key.ask('GET', own), { status: 403 })
  const weak = await organization.key({ scopes: ['approvals:read'] })
  t.match(await weak.ask('GET', own), { status: 403, code: 'insufficient_scopes' })
  for (const query of ['limit=0', 'limit=51', 'size=1'])
    t.match(await key.ask('GET', `${own}?${query}`), { status: 400, code: 'invalid_query' })
  t.match(await server.asPlatform('GET', path('none')), { status: 404 })
})
