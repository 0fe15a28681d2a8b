import t from 'tap'
import { movableClock, startChat } from '../../support/server.ts'

const path = '/api/external/v1/warmup'

t.test(
  'POST /api/external/v1/warmup: built, then warm, without a model call or a charge',
  async (t) => {
    const clock = movableClock()
    const { key, organization, provider, server } = await startChat(t, { text: 'Hi' }, { clock })
    const { organizationId, ownerId } = organization
    const agent = await organization.agent({ name: 'Helper' })
    const before = await organization.balance()

    const built = await key.ask('POST', path)
    t.match(built, {
      status: 200,
      body: {
        status: 'built',
        organization_id: organizationId,
        user_id: ownerId,
        sub_agents: 0,
        tools: 0,
      },
    })
    t.ok(Number.isInteger(built.body.took_ms))
    t.notOk('agent_id' in built.body || 'agent_ready' in built.body)
    t.match(await key.ask('POST', path, {}), { body: { status: 'warm' } })

    const body = { agent_id: agent }
    t.match(await key.ask('POST', path, body), {
      status: 200,
      body: { status: 'built', agent_id: agent, agent_ready: true },
    })
    t.match(await key.ask('POST', path, body), { body: { status: 'warm' } })
    t.match((await key.ask('POST', path, body)).headers.get('x-ratelimit-limit-minute'), /^\d+$/)
    t.equal(provider.requests.length, 0)
    t.same(await organization.balance(), before)

    clock.advance(3_599_000)
    t.match(await key.chat({ messages: [{ role: 'user', content: 'Hi' }] }), { status: 200 })
    clock.advance(2_000)
    await server.tick()
    t.match(await key.ask('POST', path, {}), { body: { status: 'warm' } }, 'a chat is use')
    clock.advance(3_600_000)
    await server.tick()
    t.match(await key.ask('POST', path, {}), { body: { status: 'built' } }, 'an hour later')
  },
)

t.test('POST /api/external/v1/warmup: what it refuses', async (t) => {
  const { key, organization, server } = await startChat(t)
  const inactive = await organization.agent({ name: 'Old', is_active: false })
  const unknown = '0190f9a0-0000-7000-8000-000000000000'
  const refused = async (body: object, status: number, code: string, by = key) =>
    t.match(await by.ask('POST', path, body), { status, code }, code)

  await refused({ agent_id: unknown }, 404, 'agent_not_found')
  await refused({ agent_id: inactive }, 400, 'agent_inactive')
  await refused({ agent_id: 'no uuid' }, 400, 'invalid_input')

  const others = await server.platform.organization()
  await refused({ agent_id: await others.agent({ name: 'Theirs' }) }, 404, 'agent_not_found')

  const only = (...scopes: string[]) => organization.key({ scopes })
  await refused({}, 403, 'insufficient_scopes', await only('agents:invoke'))
  const invokes = await only('orchestrator:invoke')
  await refused({ agent_id: unknown }, 403, 'insufficient_scopes', invokes)
  await refused({ on_behalf_of: 'x' }, 403, 'insufficient_scopes', invokes)

  const delegates = await only('orchestrator:invoke', 'users:delegate')
  await refused({ on_behalf_of: 'nobody' }, 404, 'user_not_found', delegates)

  const planless = await server.platform.organization({ plan: null })
  await refused({}, 403, 'no_subscription', await planless.key())
  const broke = await server.platform.organization({ credits: 0 })
  const poor = await broke.key()
  t.match(await poor.ask('POST', path), { status: 200 }, 'nothing is charged at zero')
})
