import t, { type Test } from 'tap'
import { approvalScene } from '../support/approval-scene.ts'
import { type Client, contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { mcpClient } from '../support/mcp-client.ts'
import { providerDouble } from '../support/provider-double.ts'
import { startApp, startChat, startServer } from '../support/server.ts'
import { connect } from '../support/socket.ts'

t.setTimeout(300_000)

const responses = '/api/external/v1/responses'

/** What every way to wait for a run is refused with. */
const refused = { error: { code: 'rate_limit_exceeded', limit: 5, window: 'concurrent' } }

/** A provider that answers nobody before it is let go; `most` is how many it had at once. */
const heldProvider = async (t: Test) => {
  let letGo = () => {}
  const until = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const provider = await providerDouble(() => ({ text: 'Done.', hold: { after: 0, until } }))
  t.teardown(provider.close)
  return { provider, letGo }
}

/** Begins a chat whose client leaves at once. */
const detached = async (key: Client, session_id: string, arrival: Promise<unknown>) => {
  const leaving = new AbortController()
  const reply = key.chat({ messages: user('Hi'), session_id }, { signal: leaving.signal })
  const left = reply.catch(() => undefined)
  await arrival
  leaving.abort()
  await left
}

const metadata = { ticket: '17' }
const inBackground = (key: Client, input: string, conversation = input) =>
  key.ask('POST', responses, { input, conversation, background: true, metadata })

const read = async (key: Client, id: string) => (await key.ask('GET', `${responses}/${id}`)).body

t.test(
  'runs whose clients have left count: every foreground run over the plan is refused',
  async (t) => {
    const { provider, letGo } = await heldProvider(t)
    const server = await startApp(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
    const organization = await server.platform.organization({ plan: 'basic_monthly' })
    const key = await organization.key()
    const agentId = await organization.agent({ name: 'Librarian' })
    for (let n = 1; n <= 5; n++) await detached(key, `gone-${n}`, provider.received(n))

    const chat = await key.chat({ messages: user('Hi') })
    t.equal(chat.status, 429)
    t.match(chat.body, refused)
    t.equal(chat.headers.get('retry-after'), '1')
    const stream = await key.stream({ messages: user('Hi') })
    t.equal(stream.status, 429)
    await stream.reply.body?.cancel()
    const response = await key.ask('POST', responses, { input: 'Hi' })
    t.equal(response.status, 429)
    t.match(response.body, refused)
    const agent = `/api/external/agents/${agentId}/completions`
    t.equal((await key.ask('POST', agent, { message: 'Hi' })).status, 429)
    const ws = await connect(server.url, { 'x-api-key': key.key })
    ws.send({ type: 'message', content: 'Hi' })
    t.match((await ws.until('error')).at(-1), { error: { code: 'rate_limit_exceeded' } })
    ws.ws.close()
    const mcp = await mcpClient(t, server, key)
    const [tool] = (await mcp.listTools()).tools
    const called = await mcp.callTool({ name: tool?.name ?? '', arguments: { message: 'Hi' } })
    t.equal(called.isError, true)
    t.equal(provider.requests.length, 5)

    t.equal((await key.status('gone-1')).body.is_processing, true, 'reads are not refused')
    t.match(await (await organization.key({ type: 'user' })).chat({ messages: user('Hi') }), {
      status: 429,
    })
    const other = await server.platform.organization()
    const theirs = (await other.key()).chat({ messages: user('Hi') })
    await provider.received(6)

    letGo()
    t.equal((await theirs).status, 200)
    await eventually(async () => !(await key.status('gone-1')).body.is_processing)
    t.equal((await key.chat({ messages: user('Hi') })).status, 200)
  },
)

t.test('background runs over the plan are queued, a hundred of an organization', async (t) => {
  const { provider, letGo } = await heldProvider(t)
  const server = await startApp(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  const organization = await server.platform.organization({ credits: 100_000 })
  const key = await organization.key()
  const ids: string[] = []
  for (let n = 0; n < 120; n++) {
    const { status, body } = await inBackground(key, `run-${n}`)
    t.equal(status, 200)
    t.equal(body.status, n < 20 ? 'in_progress' : 'queued', `run ${n}`)
    ids.push(body.id)
  }
  await provider.received(20)
  const full = await inBackground(key, 'one-too-many')
  t.equal(full.status, 429)
  t.match(full.body, { error: { limit: 100, window: 'concurrent' } })
  t.equal((await key.chat({ messages: user('Hi') })).status, 429)
  t.equal(provider.requests.length, 20, 'no more than the plan allows are asked')
  t.match((await key.status('run-119')).body, { is_processing: true, state: 'queued' })
  t.match(await read(key, ids[119] ?? ''), { status: 'queued', background: true, metadata })

  letGo()
  await provider.received(120)
  for (const id of ids) await eventually(async () => (await read(key, id)).status === 'completed')
  t.strictSame(await contents(key, 'run-119'), ['run-119', 'Done.'])
  const { balance } = organization
  await eventually(async () => (await balance()).balance === (await balance()).effective)
})

t.test('queued runs begin after kill -9, each once', async (t) => {
  const held = await providerDouble({ silent: true })
  t.teardown(held.close)
  const env = { LLM_BASE_URL: held.url, LLM_MODEL: 'test/model' }
  const server = await startServer(t, env)
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const { key } = await organization.key()
  const first = server.as(key)
  const ids: string[] = []
  for (let n = 0; n < 9; n++) ids.push((await inBackground(first, `run-${n}`)).body.id)
  await held.received(5)
  await server.kill9()

  const answering = await providerDouble({ text: 'Done.' })
  t.teardown(answering.close)
  await server.restart({ LLM_BASE_URL: answering.url })
  const second = server.as(key)
  for (const [n, id] of ids.entries()) {
    await eventually(async () => (await read(second, id)).status === 'completed')
    t.match(await read(second, id), { background: true, metadata })
    t.strictSame(await contents(second, `run-${n}`), [`run-${n}`, 'Done.'])
  }
  t.equal(answering.requests.length, 9)
})

t.test('a queued run can be cancelled, also after a restart', async (t) => {
  const held = await providerDouble({ silent: true })
  t.teardown(held.close)
  const server = await startServer(t, { LLM_BASE_URL: held.url, LLM_MODEL: 'test/model' })
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const { key } = await organization.key()
  const first = server.as(key)
  for (let n = 0; n < 5; n++) await inBackground(first, `running-${n}`)
  const queuedOne = (await inBackground(first, 'one')).body
  const queuedTwo = (await inBackground(first, 'two')).body
  t.strictSame([queuedOne.status, queuedTwo.status], ['queued', 'queued'])
  const behind = first.chat({ messages: user('behind'), session_id: 'two' })
  t.equal((await behind).status, 429)

  const cancelled = await first.ask('POST', `${responses}/${queuedOne.id}/cancel`, {})
  t.equal(cancelled.body.status, 'cancelled')
  t.equal((await read(first, queuedOne.id)).status, 'cancelled')
  t.match((await first.status('one')).body, { is_processing: false })

  await server.kill9()
  await server.restart()
  const second = server.as(key)
  t.equal((await read(second, queuedOne.id)).status, 'cancelled')
  t.match(await read(second, queuedTwo.id), { status: 'queued', background: true, metadata })
  t.match((await second.cancel('two')).body, { cancelled: true })
  t.equal((await read(second, queuedTwo.id)).status, 'cancelled')
  const prompts = held.requests.map(({ body }) => body.messages.at(-1)?.content)
  t.notOk(prompts.includes('one') || prompts.includes('two'), 'no provider was asked')
  t.equal(await server.stop(), 0, 'a server with a queue stops')
})

t.test('a stopping server leaves its queue to the next one', async (t) => {
  const held = await providerDouble({ silent: true })
  t.teardown(held.close)
  const server = await startServer(t, { LLM_BASE_URL: held.url, LLM_MODEL: 'test/model' })
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const { key } = await organization.key()
  for (let n = 0; n < 5; n++) await inBackground(server.as(key), `running-${n}`)
  const { body: queued } = await inBackground(server.as(key), 'queued')
  t.equal(queued.status, 'queued')
  t.equal(await server.stop(), 0)
  const answering = await providerDouble({ text: 'Done.' })
  t.teardown(answering.close)
  await server.restart({ LLM_BASE_URL: answering.url })
  await eventually(async () => (await read(server.as(key), queued.id)).status === 'completed')
})

t.test('a message to a session with a queued run waits for it', async (t) => {
  const { provider, letGo } = await heldProvider(t)
  const server = await startApp(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const key = await organization.key()
  for (let n = 1; n <= 5; n++) await detached(key, `gone-${n}`, provider.received(n))
  t.equal((await inBackground(key, 'first', 'shared')).body.status, 'queued')
  const second = (await inBackground(key, 'second', 'shared')).body
  t.equal(second.status, 'queued')
  letGo()
  await eventually(async () => (await read(key, second.id)).status === 'completed')
  t.strictSame(await contents(key, 'shared'), ['first', 'Done.', 'second', 'Done.'])
})

t.test('a request too large to store is refused instead of queued', async (t) => {
  const { key, provider } = await startChat(t, { silent: true })
  for (let n = 1; n <= 20; n++) await detached(key, `gone-${n}`, provider.received(n))
  const noise = Array.from({ length: 600_000 }, (_, n) =>
    String.fromCharCode(33 + (((n * n * 7919) >> 3) % 90)),
  ).join('')
  const large = { input: 'Hi', instructions: noise, background: true }
  const { status, body } = await key.ask('POST', responses, large)
  if (status === 429) {
    t.match(body, { error: { code: 'rate_limit_exceeded', window: 'concurrent' } })
    return
  }
  // A slow server answers before it refuses (`waitForStart`): the response then fails.
  await eventually(async () => (await read(key, body.id)).status !== 'queued')
  t.match(await read(key, body.id), { status: 'failed', error: { code: 'rate_limit_exceeded' } })
})

t.test(
  'runs that wait for an approval do not count, and resume once a place is free',
  async (t) => {
    const { requestRefund, decide, key, provider } = await approvalScene(t)
    const waiting = []
    for (let n = 0; n < 21; n++)
      waiting.push((await requestRefund(`paused-${n}`)).body.pending_approvals[0])
    provider.next(...Array.from({ length: 20 }, () => ({ silent: true })))
    for (let n = 1; n <= 20; n++) await detached(key, `gone-${n}`, provider.received(21 + n))
    t.equal((await decide(waiting[0], 'approve')).status, 200)
    const { length } = provider.requests
    t.match((await key.cancel('gone-1')).body, { cancelled: true })
    await provider.received(length + 1)
    await eventually(async () => !(await key.status('paused-0')).body.is_processing)
    t.strictSame(await contents(key, 'paused-0'), ['Refund A-1', 'Let me see. \n\nDone.'])
  },
)
