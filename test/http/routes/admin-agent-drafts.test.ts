import t, { type Test } from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { approvalScene, refundCall } from '../../support/approval-scene.ts'
import { textOf } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const pathOf = (organizationId: string) =>
  `/api/admin/organizations/${organizationId}/agent-drafts/completions`

const runOf = ({ body }: { body: { id: string } }) => body.id.replace('agentcmpl-', '')

/** An organization over a scripted provider, with one agent, and its owner trying drafts. */
const draftScene = async (t: Test) => {
  const chat = await startChat(t, { text: 'Done.' })
  const { organization, server } = chat
  const { organizationId, ownerId } = organization
  const owner = await organization.key({ type: 'user', user_id: ownerId })
  const at = `/api/admin/organizations/${organizationId}`
  const helper = await organization.agent({ name: 'Helper', instruction: 'Be short.' })
  return {
    ...chat,
    owner,
    at,
    helper,
    path: pathOf(organizationId),
    tryDraft: (body: object) => owner.ask('POST', pathOf(organizationId), body),
    events: (type?: string) => server.platform.events(organizationId, type),
  }
}

t.test('a draft of an agent answers with its settings, and the agent stays as it is', async (t) => {
  const { provider, owner, at, helper, tryDraft, events } = await draftScene(t)
  const before = (await owner.ask('GET', `${at}/agents`)).body
  const answer = await tryDraft({
    agent_id: helper,
    agent: { instruction: 'Be kind.', name: 'Kind helper' },
    message: 'Hi',
  })
  t.match(answer, {
    status: 200,
    body: {
      id: /^agentcmpl-/,
      agent_id: helper,
      agent_name: 'Kind helper',
      session_id: String,
      response: 'Done.',
      model: 'test/model',
    },
  })
  t.match(provider.requests.at(-1)?.body.messages[0]?.content, /^Be kind\./)
  t.strictSame((await owner.ask('GET', `${at}/agents`)).body, before)
  t.strictSame(await events('AgentChanged'), [])
})

t.test('a run of a draft is charged, listed and recorded as one, with its settings', async (t) => {
  const { organization, owner, at, tryDraft, events } = await draftScene(t)
  const { balance } = await organization.balance()
  const answer = await tryDraft({
    agent: { name: 'New', instruction: 'Count the words of the message.' },
    message: 'Hi',
  })
  t.equal(answer.status, 200)
  t.ok((await organization.balance()).balance < balance)
  const run_id = runOf(answer)
  const listed = await owner.ask('GET', `${at}/runs`)
  t.match(listed.body.runs, [{ run_id, draft: true, agent_name: 'New', status: 'completed' }])
  t.ok(listed.body.runs[0].charge > 0)
  t.match((await owner.ask('GET', `${at}/runs/${run_id}`)).body, { draft: true })
  const [started] = await events('RunStarted')
  t.match(started.data, { runId: run_id, draft: true, agent: 'New' })
  t.match(started.data.request, /Count the words of the message/)
  t.match(started.metadata.actor, { user_id: organization.ownerId })
  t.match((await owner.sessions()).body.sessions, [{ session_id: answer.body.session_id }])
  t.strictSame((await owner.sessions('?include_hidden=false')).body.sessions, [])
})

t.test('a run of a saved agent is no draft', async (t) => {
  const { owner, at, helper } = await draftScene(t)
  const path = `/api/external/agents/${helper}/completions`
  t.equal((await owner.ask('POST', path, { message: 'Hi' })).status, 200)
  const { runs } = (await owner.ask('GET', `${at}/runs`)).body
  t.equal(runs.length, 1)
  t.notOk('draft' in runs[0])
})

t.test('a draft hands over to saved agents, and continues its session', async (t) => {
  const { provider, owner, helper, tryDraft } = await draftScene(t)
  const agent = { name: 'Desk', sub_agents: [helper] }
  provider.next({ calls: [{ name: 'transfer_to_agent', arguments: { agent_name: 'Helper' } }] })
  const first = await tryDraft({ agent, message: 'One' })
  t.match(first.body, { response: 'Done.' })
  t.match(provider.requests.at(-1)?.body.messages[0]?.content, /^Be short\./)
  const { session_id } = first.body
  const second = await tryDraft({ agent, message: 'Two', session_id })
  t.equal(second.body.session_id, session_id)
  t.match(JSON.stringify(provider.requests.at(-1)?.body.messages), /One.*Two/)
  t.equal((await owner.messages(session_id)).body.messages.length, 4)
})

t.test('a draft streams as an agent does', async (t) => {
  const { owner, path } = await draftScene(t)
  const body = { agent: { name: 'New' }, message: 'Hi', stream: true }
  const stream = await owner.open('POST', path, body)
  t.equal(stream.status, 200)
  const frames = await stream.all()
  t.equal(textOf(frames), 'Done.')
  t.equal(frames.at(-1)?.data, '[DONE]')
})

t.test('a draft resumes with its own settings after an approval', async (t) => {
  const scene = await approvalScene(t)
  const { organization, provider, key, site, refund, list, decide } = scene
  provider.next({ calls: [refundCall] })
  const paused = await key.ask('POST', pathOf(organization.organizationId), {
    agent: { name: 'Cashier', instruction: 'Pay.', tools: [refund] },
    message: 'Refund A-1',
  })
  t.match(paused.body, { pending_approvals: [{ tool_name: 'refund' }] })
  const { approvals } = (await list()).body
  t.match(await decide(approvals[0], 'approve'), { status: 200 })
  await provider.received(2)
  t.equal(site.requests.length, 1)
  t.match(provider.requests.at(-1)?.body.messages[0]?.content, /^Pay\./)
})

t.test('a run of a draft is replayed with the draft, and with another instruction', async (t) => {
  const { owner, at, tryDraft } = await draftScene(t)
  const answer = await tryDraft({ agent: { name: 'New', instruction: 'Be kind.' }, message: 'Hi' })
  const replay = (body?: object) => owner.ask('POST', `${at}/runs/${runOf(answer)}/replay`, body)
  t.match((await replay()).body, { steps: [], same: 1, error: null })
  const instructions = { [answer.body.agent_id]: 'Be brief.' }
  t.match((await replay({ instructions })).body.steps, [
    { now: { asked: { system: /^Be brief\./ } }, before: { asked: { system: /^Be kind\./ } } },
  ])
})

t.test('a draft is refused as saving it is', async (t) => {
  const { server, owner, at, helper, tryDraft, events } = await draftScene(t)
  const other = await server.platform.organization()
  const foreign = await other.agent({ name: 'Foreign' })
  const many = Array.from({ length: 4 }, (_, n) => ({ name: `t${n}`, text: 'x'.repeat(30_000) }))
  for (const settings of [
    { model: 'nobody/model' },
    { sub_agents: [foreign] },
    { sub_agents: ['unknown'] },
    { temperature: 3 },
    { unknown_setting: 1 },
    { tools: ['no_such_tool'] },
    { mcp_servers: [{ name: 'a', url: 'http://127.0.0.1/' }] },
    { tools: many.map(({ name, text }) => ({ type: 'api_call', name, description: text })) },
  ]) {
    const agent = { name: 'New', ...settings }
    const saved = await owner.ask('POST', `${at}/agents`, agent)
    const tried = await tryDraft({ agent, message: 'Hi' })
    t.ok(saved.status >= 400)
    t.match(
      tried,
      { status: saved.status, code: saved.code },
      JSON.stringify(settings).slice(0, 80),
    )
    const changed = await tryDraft({ agent_id: helper, agent: settings, message: 'Hi' })
    t.match(changed, { status: saved.status, code: saved.code })
  }
  for (const [body, code] of [
    [{ agent: {}, message: 'Hi' }, 'invalid_input'],
    [{ agent_id: foreign, agent: {}, message: 'Hi' }, 'agent_not_found'],
    [{ agent_id: helper, agent: { sub_agents: [helper] }, message: 'Hi' }, 'agent_cycle'],
    [{ agent: { name: 'New' } }, 'missing_required_field'],
  ] as const)
    t.match(await tryDraft(body), { code }, code)
  t.strictSame(await events('RunStarted'), [])
})

t.test('a draft needs the rights to change agents and to run them', async (t) => {
  const { server, organization, path } = await draftScene(t)
  const body = { agent: { name: 'New' }, message: 'Hi' }
  const other = await server.platform.organization()
  const stranger = await other.key({ type: 'user', user_id: other.ownerId })
  t.match(await stranger.ask('POST', path, body), { code: 'organization_access_denied' })
  for (const [scopes, missing] of [
    [['admin:write'], 'agents:invoke'],
    [['admin:read', 'agents:invoke', 'agents:manage'], 'admin:write'],
  ] as const) {
    const weak = await organization.key({ scopes: [...scopes] })
    t.match(await weak.ask('POST', path, body), {
      code: 'insufficient_scopes',
      body: { missing_scopes: [missing] },
    })
  }
  const user_id = await organization.member()
  const member = await organization.key({ type: 'user', user_id })
  t.equal((await member.ask('POST', path, body)).status, 403)
  t.match(await server.asPlatform('POST', path, body), { status: 403 })
})

t.test('a draft needs a plan, and credits', async (t) => {
  const { server } = await draftScene(t)
  const keyOf = async (terms: { credits?: number }) => {
    const organization = await server.platform.organization(terms)
    const key = await organization.key({ type: 'user', user_id: organization.ownerId })
    const path = pathOf(organization.organizationId)
    return {
      organization,
      ask: () => key.ask('POST', path, { agent: { name: 'New' }, message: 'Hi' }),
    }
  }
  const { organization, ask: withoutPlan } = await keyOf({})
  const path = `/users/${organization.ownerId}/subscription`
  await server.platform.ask('PUT', path, { plan: null })
  t.match(await withoutPlan(), { status: 403, code: 'no_subscription' })
  const { ask: withoutCredits } = await keyOf({ credits: 0 })
  t.match(await withoutCredits(), { status: 200 })
  t.match(await withoutCredits(), { status: 402, code: 'insufficient_credits' })
})

t.test('drafts count among the concurrent requests of a plan', async (t) => {
  const { provider, server } = await draftScene(t)
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const key = await organization.key({ type: 'user', user_id: organization.ownerId })
  const body = { agent: { name: 'New' }, message: 'Hi' }
  const path = pathOf(organization.organizationId)
  const released = deferred<void>()
  for (let n = 0; n < 5; n++)
    provider.next({ text: 'Done.', hold: { after: 0, until: released.promise } })
  const running = Array.from({ length: 5 }, () => key.ask('POST', path, body))
  await provider.received(5)
  t.match(await key.ask('POST', path, body), { status: 429, code: 'rate_limit_exceeded' })
  released.resolve()
  for (const { status } of await Promise.all(running)) t.equal(status, 200)
})
