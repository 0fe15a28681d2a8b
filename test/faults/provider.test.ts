import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { type Client, contents, eventsOf, textOf, user } from '../support/client.ts'
import type { Organization } from '../support/platform.ts'
import { providerDouble, type Reply } from '../support/provider-double.ts'
import { startApp, startChat } from '../support/server.ts'

const session_id = 'one'
const messages = user('Hi')
const transport = { connectMs: 300, firstMs: 300, idleMs: 300, backOffMs: 1 }

type Refusal = { status: number; code: string; type: string }

const type = 'server_error'

const unavailable: Refusal = { status: 503, code: 'llm_service_unavailable', type }
const timeout: Refusal = { status: 504, code: 'llm_service_timeout', type }
const fault: Refusal = { status: 500, code: 'orchestrator_error', type }
const misconfigured: Refusal = { status: 500, code: 'model_misconfigured', type }
const tooLong: Refusal = {
  status: 400,
  code: 'context_length_exceeded',
  type: 'invalid_request_error',
}

type Asker = { key: Client; organization: Organization }
type Fault = { reply: Reply; refusal: Refusal; attempts: number; text?: string }

const faults: Record<string, Fault> = {
  'answers 500': { reply: { status: 500 }, refusal: unavailable, attempts: 3 },
  'answers 429': { reply: { status: 429 }, refusal: unavailable, attempts: 3 },
  'refuses the request': { reply: { status: 400 }, refusal: misconfigured, attempts: 1 },
  'refuses the key': { reply: { status: 401 }, refusal: misconfigured, attempts: 1 },
  'forbids the model': { reply: { status: 403 }, refusal: misconfigured, attempts: 1 },
  'does not know the model': {
    reply: { status: 404, raw: '{"error":{"code":"model_not_found","type":"invalid"}}' },
    refusal: misconfigured,
    attempts: 1,
  },
  'finds the conversation too long': {
    reply: {
      status: 400,
      raw: '{"error":{"message":"This model’s maximum context length is 8192 tokens","type":"x"}}',
    },
    refusal: tooLong,
    attempts: 1,
  },
  'never answers': { reply: { silent: true }, refusal: timeout, attempts: 1 },
  'falls silent': {
    reply: { text: 'one two three', stallAfter: 3 },
    refusal: timeout,
    attempts: 1,
    text: 'one two ',
  },
  'is cut off in the answer': {
    reply: { text: 'one two three', cutAfter: 3 },
    refusal: unavailable,
    attempts: 1,
    text: 'one two ',
  },
  'is cut off before the answer': { reply: { cutAfter: 0 }, refusal: unavailable, attempts: 3 },
  'ends without saying so': {
    reply: { raw: 'data: {"choices":[{"index":0,"delta":{"content":"one "}}]}\n\n' },
    refusal: unavailable,
    attempts: 1,
    text: 'one ',
  },
  'sends garbage': { reply: { raw: 'data: <html>\n\n' }, refusal: fault, attempts: 1 },
  'sends no events at all': { reply: { raw: 'nonsense' }, refusal: unavailable, attempts: 3 },
}

const isUsable = async (t: Test, { key, organization }: Asker, texts: string[]) => {
  t.strictSame(await contents(key, session_id), texts, 'the user’s message is kept')
  t.strictSame((await key.status(session_id)).body, { session_id, is_processing: false })
  t.strictSame(await organization.balance(), { balance: 100, effective: 100 }, 'it cost nothing')
  const { status } = await key.chat({ messages: user('Still there?'), session_id })
  t.equal(status, 200, 'the session goes on')
}

t.test('what a provider can do wrong', async (t) => {
  const { provider, server } = await startChat(t, undefined, { transport })
  const asker = async (): Promise<Asker> => {
    const organization = await server.platform.organization()
    return { organization, key: await organization.key() }
  }

  for (const [what, { reply, refusal, attempts, text = '' }] of Object.entries(faults)) {
    const { status, code, type } = refusal
    t.test(`a provider that ${what}, a whole answer: ${status} ${code}`, async (t) => {
      const scene = await asker()
      const before = provider.requests.length
      provider.next(...Array(attempts).fill(reply))
      const answer = await scene.key.chat({ messages, session_id })
      t.match(answer, { status, code, body: { error: { code, type } } })
      t.notMatch(JSON.stringify(answer.body), /scripted|at \w+ \(|127\.0\.0\.1/, 'and no more')
      t.equal(provider.requests.length - before, attempts)
      await isUsable(t, scene, ['Hi'])
    })

    t.test(`a provider that ${what}, streamed: an error frame, then [DONE]`, async (t) => {
      const scene = await asker()
      provider.next(...Array(attempts).fill(reply))
      const items = await (await scene.key.stream({ messages, session_id })).all()
      t.match(items.at(-2)?.data, { error: { code, type, message: String } })
      t.strictSame(Object.keys(items.at(-2)?.data), ['error'])
      t.equal(items.at(-1)?.data, '[DONE]')
      t.equal(items.filter(({ data }) => data === '[DONE]').length, 1)
      t.equal(textOf(items.filter(({ data }) => data.choices)), text)
      const events = eventsOf(items)
      t.strictSame(
        events.map(({ event }) => event),
        ['agent_started', 'agent_completed'],
      )
      t.match(events[1], { ok: false, error_code: code })
      t.notOk('error' in events[1])
      await isUsable(t, scene, ['Hi'])
    })
  }
})

t.test('a provider that nobody reaches', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as { port: number }
  await new Promise((resolve) => closed.close(resolve))
  const env = { LLM_BASE_URL: `http://127.0.0.1:${port}/v1` }
  const { key } = await startChat(t, undefined, { transport }, env)
  const { status, code } = await key.chat({ messages })
  t.strictSame({ status, code, type }, unavailable)
})

t.test('a provider that is back after a moment: nobody notices', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Back.' }, { transport })
  provider.next({ status: 503 }, { cutAfter: 0 })
  const { status, body } = await key.chat({ messages })
  t.equal(status, 200)
  t.equal(body.choices[0].message.content, 'Back.')
})

t.test('a slow provider is waited for', async (t) => {
  const { key } = await startChat(
    t,
    { text: 'one two three four five six seven eight', pauseMs: 60 },
    { transport },
  )
  const items = await (await key.stream({ messages })).all()
  t.equal(textOf(items.slice(0, -1)), 'one two three four five six seven eight')
})

t.test('those in line behind a failed turn get their turn', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Fine.' }, { transport })
  provider.next({ text: 'one two', stallAfter: 2 })
  const first = await key.stream({ messages: user('1'), session_id })
  const second = key.chat({ messages: user('2'), session_id })
  t.match((await first.all()).at(-2)?.data, { error: { code: 'llm_service_timeout' } })
  t.equal((await second).body.choices[0].message.content, 'Fine.')
  t.strictSame(await contents(key, session_id), ['1', '2', 'Fine.'])
})

t.test('an agent whose provider is no longer configured: 500 model_misconfigured', async (t) => {
  const url = 'http://127.0.0.1:1/v1'
  const providers = JSON.stringify([{ name: 'gone', base_url: url }])
  const { organization, server, key } = await startChat(
    t,
    undefined,
    {},
    { LLM_PROVIDERS: providers },
  )
  const agent = await organization.agent({ name: 'Lost', model: 'gone/model' })
  await server.restart({ LLM_PROVIDERS: '[]' })
  const client = server.as(key.key)
  const { status, code } = misconfigured
  const path = `/api/external/agents/${agent}/completions`
  const reply = await client.ask('POST', path, { message: 'Hi' })
  t.match(reply, { status, code })
  t.equal(reply.headers.get('x-should-retry'), 'false')
  t.match(await client.chat({ messages, target_agent_id: agent }), { status, code })
  t.match(await client.chat({ messages }), { status: 200 }, 'the others go on')
  const warmup = () => client.ask('POST', '/api/external/v1/warmup', { agent_id: agent })
  for (const failed of [await warmup(), await warmup()]) t.match(failed, { status, code })
  await server.platform.ask(
    'PATCH',
    `/organizations/${organization.organizationId}/agents/${agent}`,
    { description: 'It can still be changed' },
  )
})

t.test('LLM_MODEL is asked for when a turn runs, also by what an earlier start made', async (t) => {
  const provider = await providerDouble({ text: 'From the provider.' })
  t.teardown(provider.close)
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const agent = await organization.agent({ name: 'Plain' })
  const own = await organization.agent({ name: 'Own', model: 'offline/extractive' })
  const { key } = await organization.key()
  const ask = async (target_agent_id?: string) => {
    const more = target_agent_id ? { target_agent_id } : {}
    const { body } = await server.as(key).chat({ messages, ...more })
    return body.choices[0].message.content
  }
  t.match(await ask(), /understood/)
  await server.restart({ LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  t.equal(await ask(), 'From the provider.', 'the orchestrator')
  t.equal(await ask(agent), 'From the provider.', 'an agent that names no model')
  t.match(await ask(own), /understood/, 'an agent that names one keeps it')
  const { body } = await server.as(key).ask('GET', '/api/external/agents')
  t.strictSame(
    body.agents.map(({ model }: { model: string }) => model),
    ['test/model', 'test/model', 'offline/extractive'],
  )
  t.equal(provider.requests[0]?.body.model, 'model')
})
