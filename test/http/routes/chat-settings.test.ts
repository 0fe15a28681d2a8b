import OpenAI from 'openai'
import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const stop = ['END', '\n\n']

const settings = {
  temperature: 0.3,
  top_p: 0.9,
  seed: -7,
  presence_penalty: -2,
  frequency_penalty: 2,
  reasoning_effort: 'minimal',
} as const

t.test('settings reach the provider as they are, whole and streamed', async (t) => {
  const { key, server, provider } = await startChat(t)
  const client = new OpenAI({ apiKey: key.key, baseURL: `${server.url}/api/external/v1` })
  const ask = { model: 'svc-orchestrator', messages: [{ role: 'user' as const, content: 'Hi' }] }
  await client.chat.completions.create({ ...ask, ...settings, stop, max_completion_tokens: 9 })
  await client.chat.completions.create({ ...ask, ...settings, max_tokens: 8, stop: 'X' })
  const both = { max_tokens: 8, max_completion_tokens: 9, stream: true } as const
  for await (const _ of await client.chat.completions.create({ ...ask, ...settings, ...both }));
  await client.chat.completions.create({ ...ask, temperature: null, stop: [], top_p: null })
  const [first, second, third, fourth] = provider.requests.map(({ body }) => body)
  t.match(first, { ...settings, stop, max_completion_tokens: 9 })
  t.notOk('max_tokens' in (first ?? {}), 'some models know one name only')
  t.match(second, { ...settings, stop: ['X'], max_tokens: 8 })
  t.notOk('max_completion_tokens' in (second ?? {}))
  t.match(third, { ...settings, max_completion_tokens: 9 })
  t.notOk('max_tokens' in (third ?? {}), 'the newer name counts where both are there')
  t.strictSame(
    Object.keys(fourth ?? {}).toSorted(),
    ['messages', 'model', 'stream', 'stream_options'],
    'what is not set is not sent',
  )
})

t.test('a request’s settings win over an agent’s own, for every agent of the turn', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const own = { temperature: 1, max_tokens: 100 }
  const first = await organization.agent({ name: 'One', ...own })
  const second = await organization.agent({ name: 'Two', ...own })
  const both = { agent_type: 'SEQUENTIAL_AGENT', sub_agents: [first, second] }
  const model = await organization.agent({ name: 'Both', ...both })
  const settingsSent = async (body: object) => {
    const before = provider.requests.length
    t.equal((await key.chat({ messages: user('Hi'), model, ...body })).status, 200)
    return provider.requests
      .slice(before)
      .map(({ body: { messages: _, model: __, stream: ___, stream_options: ____, ...all } }) => all)
  }
  t.strictSame(await settingsSent({}), [own, own])
  const wins = { temperature: 0, max_completion_tokens: 7 }
  t.strictSame(await settingsSent(wins), [wins, wins])
  const beside = { ...own, top_p: 0.5 }
  t.strictSame(await settingsSent({ top_p: 0.5 }), [beside, beside])
})

t.test('a setting out of range or of another type is refused, and nothing is asked', async (t) => {
  const { key, provider } = await startChat(t)
  const wrong: Record<string, readonly unknown[]> = {
    temperature: [-0.1, 2.1, '1', true, {}],
    top_p: [-0.1, 1.1, '1'],
    stop: [7, '', ['a', 'b', 'c', 'd', 'e'], ['a', 7], 'x'.repeat(1_001), {}],
    seed: [1.5, '7', 2 ** 60],
    presence_penalty: [-2.1, 2.1, '0'],
    frequency_penalty: [-2.1, 2.1, []],
    max_tokens: [0, -1, 1.5, '9'],
    max_completion_tokens: [0, 1.5, '9'],
    reasoning_effort: ['much', 3],
    n: [0, -1, 1.5, 'two'],
    logprobs: ['yes', 1],
    modalities: ['text', [1]],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      for (const stream of [false, true]) {
        const reply = await key.chat({ messages: user('Hi'), [name]: value, stream })
        t.equal(reply.status, 400, `${name}: ${JSON.stringify(value)}`.slice(0, 80))
        t.equal(reply.code, 'invalid_input')
        t.equal(reply.body.error.type, 'invalid_request_error')
        t.equal(reply.body.error.param.split('.')[0], name)
      }
  t.equal(provider.requests.length, 0)
})

t.test('an unsupported setting that would change the answer is refused by name', async (t) => {
  const { key, provider } = await startChat(t)
  const refused: Record<string, readonly unknown[]> = {
    n: [2, 100],
    logprobs: [true],
    top_logprobs: [3],
    logit_bias: [{ 50256: -100 }],
    modalities: [['text', 'audio'], ['image']],
    audio: [{ voice: 'alloy', format: 'mp3' }, 'x'],
    web_search_options: [{}],
    functions: [[{ name: 'look_up', parameters: {} }]],
    function_call: [{ name: 'look_up' }],
  }
  for (const [name, values] of Object.entries(refused))
    for (const value of values) {
      const reply = await key.chat({ messages: user('Hi'), [name]: value })
      t.equal(reply.status, 400, name)
      t.equal(reply.code, 'unsupported_parameter')
      t.match(reply.body.error, {
        code: 'unsupported_parameter',
        type: 'invalid_request_error',
        param: name,
        message: new RegExp(`^${name}: `),
      })
    }
  const streamed = await key.stream({ messages: user('Hi'), n: 2 })
  t.equal(streamed.status, 400, 'before a stream begins')
  await streamed.reply.text()
  t.equal(provider.requests.length, 0)
  t.match(
    await key.chat({ n: 2, messages: 'no' }),
    { status: 400, body: { error: { code: 'invalid_input', param: 'messages' } } },
    'a body that does not fit is told first',
  )
})

t.test('a name that each chunk repeats is short', async (t) => {
  const { key, provider } = await startChat(t)
  const long = 'x'.repeat(1_025)
  const model = { status: 400, body: { error: { code: 'invalid_input', param: 'model' } } }
  t.match(await key.chat({ messages: user('Hi'), stream: true, model: long }), model)
  t.match(await key.ask('POST', '/api/external/v1/responses', { input: 'Hi', model: long }), model)
  const { body } = await key.chat({ messages: user('Hi'), model: long.slice(1), session_id: 's' })
  t.equal(body.model, long.slice(1))
  const again = await key.ask('GET', `/api/external/sessions/s/stream?model=${long}`)
  t.match(again, { status: 400, body: { detail: { model: [String] } } })
  t.equal(provider.requests.length, 1)
})
