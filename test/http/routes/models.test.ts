import OpenAI, { NotFoundError } from 'openai'
import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const models = '/api/external/v1/models'

t.test('GET /api/external/v1/models: the orchestrator and every active agent', async (t) => {
  const { key, server, organization } = await startChat(t)
  const billing = await organization.agent({ name: 'Billing', description: 'Knows invoices' })
  const asleep = await organization.agent({ name: 'Asleep', is_active: false })
  const client = new OpenAI({ apiKey: key.key, baseURL: `${server.url}/api/external/v1` })

  const { data } = await client.models.list()
  const [first, orchestrator, ...others] = data
  t.match(first, {
    id: 'svc-orchestrator',
    object: 'model',
    owned_by: 'reprise',
    name: 'Orchestrator',
    description: String,
  })
  t.strictSame({ ...first, id: orchestrator?.id }, orchestrator, 'it is an active agent too')
  t.ok(Math.abs(Date.now() / 1000 - (first?.created ?? 0)) < 60, 'in seconds')
  t.match(others, [{ id: billing, name: 'Billing', description: 'Knows invoices' }])
  t.equal(others.length, 1)

  for (const { id } of data) t.equal((await client.models.retrieve(id)).id, id)
  const stranger = await server.platform.organization()
  const elsewhere = await stranger.agent({ name: 'Elsewhere' })
  for (const id of ['gpt-5', asleep, elsewhere, 'constructor', 'a/b']) {
    const failed = await client.models.retrieve(id).catch((error: unknown) => error)
    t.ok(failed instanceof NotFoundError, id)
  }
  const { status, code, body } = await key.ask('GET', `${models}/gpt-5`)
  t.equal(status, 404)
  t.equal(code, 'model_not_found')
  t.strictSame(body, {
    error: {
      message: 'There is no model gpt-5',
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
    },
  })
})

t.test('a model that is the id of an active agent hands the turn to it', async (t) => {
  const { key, provider, server, organization } = await startChat(t)
  const billing = await organization.agent({ name: 'Billing', instruction: 'You bill' })
  const asleep = await organization.agent({ name: 'Asleep', is_active: false })
  const other = await organization.agent({ name: 'Other', instruction: 'You are other' })
  const [orchestrator] = (await key.ask('GET', '/api/external/agents')).body.agents
  const routed = async (body: object) => {
    const before = provider.requests.length
    const reply = await key.chat({ messages: user('Hi'), ...body })
    t.equal(reply.status, 200)
    const [request, ...more] = provider.requests.slice(before)
    t.equal(more.length, 0, 'one model is asked')
    return { model: reply.body.model, instruction: request?.body.messages[0]?.content }
  }
  t.strictSame(await routed({ model: billing }), { model: billing, instruction: 'You bill' })
  t.equal(
    (await routed({ model: billing, target_agent_id: other })).instruction,
    'You are other',
    'target_agent_id comes first',
  )
  const { instruction } = await routed({})
  for (const model of [asleep, 'gpt-5', 'svc-orchestrator', orchestrator.agent_id, ''])
    t.strictSame(await routed({ model }), { model, instruction }, `${model}: the orchestrator`)
  const history = `/organizations/${organization.organizationId}/audit/events?type=AgentRouted`
  const { events } = await server.platform.ask('GET', history)
  t.equal(events.length, 2, 'the orchestrator hands nothing to itself')
})
