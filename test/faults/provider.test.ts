import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { type Client, contents, eventsOf, textOf, user } from '../support/client.ts'
import type { Organization } from '../support/platform.ts'
import type { Reply } from '../support/provider-double.ts'
import { startChat } from '../support/server.ts'

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
type Fault = { reply: Reply; refusal: Refusal; asked: number; said?: string }

const faults: Record<string, Fault> = {
  'answers 500': { reply: { status: 500 }, refusal: unavailable, asked: 3 },
  'answers 429': { reply: { status: 429 }, refusal: unavailable, asked: 3 },
  'refuses the request': { reply: { status: 400 }, refusal: misconfigured, asked: 1 },
  'refuses the key': { reply: { status: 401 }, refusal: misconfigured, asked: 1 },
  'forbids the model': { reply: { status: 403 }, refusal: misconfigured, asked: 1 },
  'does not know the model': {
    reply: { status: 404, raw: '{"error":{"code":"model_not_found","type":"invalid"}}' },
    refusal: misconfigured,
    asked: 1,
  },
  'finds the conversation too long': {
    reply: {
      status: 400,
      raw: '{"error":{"message":"This model’s maximum context length is 8192 tokens","type":"x"}}',
    },
    refusal: tooLong,
    asked: 1,
  },
  'never answers': { reply: { silent: true }, refusal: timeout, asked: 1 },
  'falls silent': {
    reply: { text: 'one two three', stallAfter: 3 },
    refusal: timeout,
    asked: 1,
    said: 'one two ',
  },
  'is cut off in the answer': {
    reply: { text: 'one two three', cutAfter: 3 },
    refusal: unavailable,
    asked: 1,
    said: 'one two ',
  },
  'is cut off before the answer': { reply: { cutAfter: 0 }, refusal: unavailable, asked: 3 },
  'ends without saying so': {
    reply: { raw: 'data: {"choices":[{"index":0,"delta":{"content":"one "}}]}\n\n' },
    refusal: unavailable,
    asked: 1,
    said: 'one ',
  },
  'sends garbage': { reply: { raw: 'data: <html>\n\n' }, refusal: fault, asked: 1 },
  'sends no events at all': { reply: { raw: 'nonsense' }, refusal: unavailable, asked: 3 },
}

const isUsable = async (t: Test, { key, organization }: Asker, said: string[]) => {
  t.strictSame(await contents(key, session_id), said, 'the user’s message is kept')
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

  for (const [what, { reply, refusal, asked, said = '' }] of Object.entries(faults)) {
    const { status, code, type } = refusal
    t.test(`a provider that ${what}, a whole answer: ${status} ${code}`, async (t) => {
      const one = await asker()
      const before = provider.requests.length
      provider.next(...Array(asked).fill(reply))
      const answer = await one.key.chat({ messages, session_id })
      t.match(answer, { status, code, body: { error: { code, type } } })
      t.notMatch(JSON.stringify(answer.body), /scripted|at \w+ \(|127\.0\.0\.1/, 'and no more')
      t.equal(provider.requests.length - before, asked)
      await isUsable(t, one, ['Hi'])
    })

    t.test(`a provider that ${what}, streamed: an error frame, then [DONE]`, async (t) => {
      const one = await asker()
      provider.next(...Array(asked).fill(reply))
      const items = await (await one.key.stream({ messages, session_id })).all()
      t.match(items.at(-2)?.data, { error: { code, type, message: String } })
      t.strictSame(Object.keys(items.at(-2)?.data), ['error'])
      t.equal(items.at(-1)?.data, '[DONE]')
      t.equal(items.filter(({ data }) => data === '[DONE]').length, 1)
      t.equal(textOf(items.filter(({ data }) => data.choices)), said)
      const events = eventsOf(items)
      t.strictSame(
        events.map(({ event }) => event),
        ['agent_started', 'agent_completed'],
      )
      t.match(events[1], { ok: false, error_code: code })
      t.notOk('error' in events[1])
      await isUsable(t, one, ['Hi'])
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

t.test('an agent whose model nobody has configured: 500 model_misconfigured', async (t) => {
  const { organization, key } = await startChat(t)
  const agent = await organization.agent({ name: 'Lost', model: 'no/such' })
  const { status, code } = misconfigured
  const path = `/api/external/agents/${agent}/completions`
  t.match(await key.ask('POST', path, { message: 'Hi' }), { status, code })
  t.match(await key.chat({ messages, target_agent_id: agent }), { status, code })
  t.match(await key.chat({ messages }), { status: 200 }, 'the others go on')
  t.match(await key.ask('POST', '/api/external/v1/warmup', { agent_id: agent }), { status: 500 })
})
