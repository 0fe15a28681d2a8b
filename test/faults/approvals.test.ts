import t from 'tap'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { providerDouble } from '../support/provider-double.ts'
import { startServer } from '../support/server.ts'
import { json, web } from '../support/web.ts'

const call = { name: 'refund', arguments: { order: 'A-1' } }
const approvals = '/api/external/approvals'

t.test('a call that waits survives SIGKILL, and is made once', async (t) => {
  const provider = await providerDouble({ text: 'Done.' })
  t.teardown(provider.close)
  const site = await web(t, (_, response) => json(response, { refunded: true }))
  const server = await startServer(t, {
    LLM_BASE_URL: provider.url,
    LLM_MODEL: 'test/model',
    API_CALL_ALLOW_HOSTS: site.host,
  })
  const organization = await server.platform.organization()
  const shop = await organization.agent({
    name: 'Shop',
    tools: [
      {
        type: 'api_call',
        name: 'refund',
        method: 'POST',
        url: `${site.url}/refunds`,
        parameters: { type: 'object' },
        requires_approval: true,
      },
    ],
  })
  const { key } = await organization.key({ type: 'user', user_id: organization.ownerId })
  provider.next({ text: 'Let me see.', calls: [call] })
  const request = { model: shop, session_id: 's', messages: user('Refund A-1') }
  const { body } = await server.as(key).chat(request)
  const [{ approval_id, arguments_digest }] = body.pending_approvals

  await server.kill9()
  await server.restart()
  t.match(await server.as(key).status('s'), { body: { state: 'awaiting_approval' } })
  t.match(await server.as(key).ask('GET', `${approvals}?status=pending`), {
    body: { approvals: [{ approval_id, arguments: call.arguments }] },
  })
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.ok(effective < balance, 'its credits stay reserved')

  const decision = { decision: 'approve', arguments_digest }
  const decided = await server.as(key).ask('POST', `${approvals}/${approval_id}`, decision)
  t.equal(decided.status, 200)
  await server.kill9()
  await server.restart()
  await eventually(async () => {
    const { body } = await server.as(key).status('s')
    return !body.is_processing && !body.state
  })
  t.ok(site.requests.length <= 1, 'it is never called twice')
  const [, answer] = await contents(server.as(key), 's')
  t.match(answer, /^Let me see\./)
  t.match(await server.as(key).ask('POST', `${approvals}/${approval_id}`, decision), {
    status: 409,
    code: 'approval_decided',
  })
})
