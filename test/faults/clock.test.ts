import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { held } from '../support/held.ts'
import { allRag, encodedFile, library } from '../support/library.ts'
import { hour, lurchingClock, soundTimes } from '../support/lurching.ts'
import { providerDouble, type Reply } from '../support/provider-double.ts'
import { movableClock, startApp } from '../support/server.ts'
import { studio } from '../support/studio.ts'
import { json, web } from '../support/web.ts'

t.setTimeout(120_000)

type Step = 'back first' | 'forth first'

/** `calm`: the clock steps only when it is told to. */
type Options = { ids?: { id?: () => string }; calm?: boolean }

/** A server whose clock lurches by an hour whenever a model or a tool is asked. */
const lurching = async (t: Test, step: Step, { ids = {}, calm = false }: Options = {}) => {
  const { clock, lurch } = lurchingClock(step === 'back first' ? -hour : hour)
  const script: Reply[] = []
  const provider = await providerDouble(() => {
    if (!calm) lurch()
    return script.shift() ?? { text: 'Hello.' }
  })
  t.teardown(provider.close)
  const site = await web(t, (_, response) => {
    lurch()
    json(response, { done: true })
  })
  const model = { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' }
  const env = { ...model, API_CALL_ALLOW_HOSTS: site.host }
  const server = await startApp(t, env, { clock: { ...clock, ...ids } })
  const organization = await server.platform.organization()
  const { key } = await organization.key({ type: 'user', user_id: organization.ownerId })
  const tool = (more: object = {}) => ({
    type: 'api_call',
    name: 'look',
    method: 'GET',
    url: `${site.url}/look`,
    parameters: { type: 'object' },
    ...more,
  })
  return {
    clock,
    lurch,
    script,
    server,
    organization,
    site,
    provider,
    tool,
    key: () => server.as(key),
    /** The types of the history, whose times and durations are sound; housekeeping ends nothing. */
    async sound() {
      await server.tick()
      return soundTimes(t, server.platform, organization.organizationId)
    },
  }
}

const calls = [{ name: 'look', arguments: {} }]

const both = (name: string, test: (t: Test, step: Step) => Promise<void>) => {
  for (const step of ['back first', 'forth first'] as const)
    t.test(`${name}, ${step}`, (t) => test(t, step))
}

const endsOf = (types: readonly string[]) =>
  types.filter((type) => /^Run(Completed|Failed|Cancelled|TimedOut)$/.test(type))

both('a plain turn ends as always though the clock steps', async (t, step) => {
  const { key, sound } = await lurching(t, step)
  const { status, body } = await key().chat({ session_id: 's', messages: user('Hi') })
  t.equal(status, 200)
  t.equal(body.choices[0].message.content, 'Hello.')
  t.strictSame(endsOf(await sound()), ['RunCompleted'])
})

both('a streamed turn is under way and can be followed though the clock steps', async (t, step) => {
  const { key, script, lurch, server, sound } = await lurching(t, step)
  const { reply, go, text } = held()
  script.push(reply)
  const stream = await key().stream({ session_id: 's', messages: user('Hi') })
  await stream.until(({ data }) => Boolean(data.choices?.[0]?.delta.content))
  for (let n = 0; n < 2; n++) {
    lurch()
    await server.tick()
    const { body } = await key().status('s')
    t.match(body, { is_processing: true })
    t.ok(body.elapsed_seconds < 60)
    t.match((await key().sessions()).body.sessions, [{ session_id: 's', state: 'running' }])
  }
  go()
  t.equal((await stream.all()).at(-1)?.data, '[DONE]')
  lurch()
  t.equal((await key().attach('s')).status, 200, 'it ended just now')
  t.strictSame(await contents(key(), 's'), ['Hi', text])
  t.strictSame(endsOf(await sound()), ['RunCompleted'])
})

both('a turn with a tool ends as always though the clock steps', async (t, step) => {
  const { key, script, organization, tool, sound } = await lurching(t, step)
  const model = await organization.agent({ name: 'Looker', tools: [tool()] })
  script.push({ text: 'Let me see.', calls }, { text: 'Done.' })
  t.match(await key().chat({ model, session_id: 's', messages: user('Look') }), { status: 200 })
  const types = await sound()
  t.ok(types.includes('ToolCompleted'))
  t.strictSame(endsOf(types), ['RunCompleted'])
})

both('a turn that waits for an approval goes on though the clock steps', async (t, step) => {
  const { key, script, organization, tool, lurch, server, sound } = await lurching(t, step)
  const tools = [tool({ requires_approval: true })]
  const model = await organization.agent({ name: 'Looker', tools })
  script.push({ calls }, { text: 'Done.' })
  const { body } = await key().chat({ model, session_id: 's', messages: user('Look') })
  const [{ approval_id, arguments_digest }] = body.pending_approvals
  for (let n = 0; n < 2; n++) {
    lurch()
    await server.tick()
    t.match((await key().status('s')).body, { state: 'awaiting_approval' })
  }
  const decision = { decision: 'approve', arguments_digest }
  const path = `/api/external/approvals/${approval_id}`
  t.match(await key().ask('POST', path, decision), { status: 200 })
  await eventually(async () => {
    const { body } = await key().status('s')
    return !body.is_processing && !body.state
  })
  t.strictSame(endsOf(await sound()), ['RunCompleted'])
})

t.test(
  'a turn goes on at a start whose clock is an hour behind, in no negative time',
  async (t) => {
    const { clock, key, script, server, sound } = await lurching(t, 'forth first')
    const { reply } = held()
    script.push(reply, { text: 'Done.' })
    const stream = await key().stream({ session_id: 's', messages: user('Hi') })
    await stream.until(({ data }) => Boolean(data.choices?.[0]?.delta.content))
    clock.step(-2 * hour)
    await server.restart()
    await eventually(async () => !(await key().status('s')).body.is_processing)
    const types = await sound()
    t.ok(types.includes('RunResumed'))
    t.strictSame(endsOf(types), ['RunCompleted'])
  },
)

for (const agent_type of ['SEQUENTIAL_AGENT', 'PARALLEL_AGENT', 'LOOP_AGENT'])
  both(`a turn of a ${agent_type} ends as always though the clock steps`, async (t, step) => {
    const { key, organization, sound } = await lurching(t, step)
    const [firstAgent, otherAgent] = [
      await organization.agent({ name: 'One' }),
      await organization.agent({ name: 'Other' }),
    ]
    const loop = agent_type === 'LOOP_AGENT' ? { max_iterations: 2 } : {}
    const sub_agents = [firstAgent, otherAgent]
    const model = await organization.agent({ name: 'All', agent_type, sub_agents, ...loop })
    t.match(await key().chat({ model, session_id: 's', messages: user('Hi') }), { status: 200 })
    const types = await sound()
    t.ok(types.filter((type) => type === 'AgentCompleted').length >= 3)
    t.strictSame(endsOf(types), ['RunCompleted'])
  })

const lists = '/api/external'

const inNoOrder = ['m', 'a', 'z', 'q', 'p', 'b']

/** Ids that say nothing of their order, as those of several nodes. */
const unordered = { id: () => randomUUID() }

both('lists have the newest first though the clock steps', async (t, step) => {
  const { clock, lurch } = lurchingClock(step === 'back first' ? -hour : hour)
  const { organization, server } = await studio(t, {}, { clock: { ...clock, ...unordered } })
  const { key: text } = await organization.key({ type: 'user', user_id: organization.ownerId })
  const key = server.as(text)
  const painter = await organization.agent({ name: 'Second painter', tools: ['generate_content'] })
  const rag = library(await organization.key({ scopes: allRag }))
  const datastore = await rag.datastore()
  const sessions: string[] = []
  const files: string[] = []
  await key.chat({ session_id: 'source', messages: user('Hi') })
  for (const [n, session_id] of inNoOrder.entries()) {
    if (n % 3 === 0) lurch()
    t.match(await key.chat({ session_id, messages: user('Hi') }), { status: 200 })
    sessions.unshift(session_id)
    const fork = await key.ask('POST', `${lists}/sessions/source/fork`, {
      session_id: `fork-${session_id}`,
    })
    t.equal(fork.status, 201)
    const path = `${lists}/agents/${painter}/completions`
    t.match(await key.ask('POST', path, { message: `Draw a picture of ${session_id}` }), {
      status: 200,
    })
    t.match(await rag.upload(datastore, encodedFile(`${session_id}.txt`, 'cat')), { status: 200 })
    files.unshift(`${session_id}.txt`)
  }
  const { body } = await key.sessions()
  const listedIds = body.sessions.map(({ session_id }: { session_id: string }) => session_id)
  t.strictSame(
    listedIds.filter((id: string) => sessions.includes(id)),
    sessions,
  )
  await key.chat({ session_id: 'm', messages: user('Again') })
  t.match((await key.sessions('?page_size=1')).body.sessions, [{ session_id: 'm' }])
  const { forks } = (await key.ask('GET', `${lists}/sessions/source`)).body
  t.strictSame(
    forks.map(({ session_id }: { session_id: string }) => session_id),
    sessions.map((id) => `fork-${id}`),
  )
  const { items } = (await key.ask('GET', `${lists}/content`)).body
  t.strictSame(
    items.map(({ prompt }: { prompt: string }) => prompt),
    sessions.map((id) => `Draw a picture of ${id}`),
  )
  const { uploads } = (await rag.ask('GET', '/uploads')).body
  t.strictSame(
    uploads.map(({ filename }: { filename: string }) => filename),
    files,
  )
})

both('approvals have the newest first though the clock steps', async (t, step) => {
  const options = { ids: unordered, calm: true }
  const { key, script, organization, tool, lurch } = await lurching(t, step, options)
  const model = await organization.agent({
    name: 'Looker',
    tools: [tool({ requires_approval: true })],
  })
  const expected: string[] = []
  for (const [n, session_id] of inNoOrder.entries()) {
    if (n % 3 === 0) lurch()
    script.push({ calls })
    await key().chat({ model, session_id, messages: user('Look') })
    expected.unshift(session_id)
  }
  const { approvals } = (await key().ask('GET', `${lists}/approvals`)).body
  t.strictSame(
    approvals.map((approval: { session_id: string }) => approval.session_id),
    expected,
  )
})

t.test('a start warns that its clock is behind the log, and serves', async (t) => {
  const clock = movableClock()
  const server = await startApp(t, {}, { clock })
  await server.platform.organization()
  const ready = async () => (await fetch(`${server.url}/api/health/ready`)).json()
  clock.step(-4 * 60_000)
  t.match(await ready(), { status: 'ok', checks: { clock: { ok: true } } })
  clock.step(-hour)
  await server.restart()
  t.match(await ready(), {
    status: 'ok',
    checks: { clock: { ok: false, detail: /^the latest event is 38\d\d s ahead of the clock$/ } },
  })
})

both('a generation is not given up though the clock steps', async (t, step) => {
  const { clock, lurch } = lurchingClock(step === 'back first' ? -hour : hour)
  const { provider, draw, when, over, organization, server } = await studio(t, {}, { clock })
  provider.next({ held: true })
  const id = await draw()
  await when(id, 'processing')
  for (let n = 0; n < 2; n++) {
    lurch()
    const before = provider.requests.length
    await eventually(async () => provider.requests.length > before + 1)
  }
  provider.end(0)
  const item = await over(id)
  t.match(item, { status: 'completed', error_message: null })
  t.ok(item.processing_time_ms >= 0 && item.processing_time_ms < 60_000)
  await soundTimes(t, server.platform, organization.organizationId)
})

both('an upload is read and found though the clock steps', async (t, step) => {
  const { organization, lurch, server, sound } = await lurching(t, step)
  const key = await organization.key({ scopes: allRag })
  const rag = library(key)
  const id = await rag.datastore()
  for (const name of ['one', 'two']) {
    t.equal((await rag.upload(id, encodedFile(`${name}.txt`, `The ${name} cat`))).status, 200)
    lurch()
    await server.tick()
  }
  t.match(await rag.settled(id), [{ status: 'completed' }, { status: 'completed' }])
  t.equal((await rag.search(id, 'cat')).length, 2)
  await sound()
})
