import OpenAI from 'openai'
import t from 'tap'
import { blocksOf, eventsOf, type Frame, textOf, user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const text = 'Hello from the double.'
const usage = { prompt_tokens: 7, completion_tokens: 5 }
const messages = user('Hi')

const chunksOf = (frames: readonly Frame[]) =>
  frames.map(({ data }) => data).filter((data) => data.choices)

t.test(
  'POST /api/external/v1/chat/completions: order of a stream: role, content, finish_reason, [DONE]',
  async (t) => {
    const { key } = await startChat(t, { text })
    const { status, headers, frames, all } = await key.stream({ messages })
    t.equal(status, 200)
    t.match(headers.get('content-type'), /^text\/event-stream/)
    t.match(headers.get('cache-control'), /no-cache/)
    const items = await all()
    t.strictSame((await frames.next()).done, true)
    t.equal(new Set(items.map(({ id }) => id)).size, items.length, 'every item has its own id')
    t.strictSame(
      items.map(({ data }) => data === '[DONE]').filter(Boolean),
      [true],
      '[DONE] exactly once',
    )
    t.equal(items.at(-1)?.data, '[DONE]')
    const chunks = chunksOf(items)
    const [first] = chunks
    t.strictSame(first.choices, [
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    ])
    t.equal(items[0]?.data, first, 'the role comes before everything else')
    t.strictSame(chunks.at(-1).choices, [{ index: 0, delta: {}, finish_reason: 'stop' }])
    t.equal(textOf(items.slice(0, -1)), text)
    for (const chunk of chunks) {
      t.match(chunk, { id: first.id, object: 'chat.completion.chunk', model: 'svc-orchestrator' })
      t.equal(chunk.created, first.created)
      t.equal(chunk.session_id, first.session_id, 'session_id in every chunk')
      t.notOk('usage' in chunk)
    }
    t.ok(chunks.slice(0, -1).every(({ choices }) => choices[0].finish_reason === null))
    const { body } = await key.messages(first.session_id)
    t.equal(body.messages[1].content, text, 'what was streamed can be read back at [DONE]')
  },
)

t.test('headers and the opening chunk go out at once', async (t) => {
  const { key, provider } = await startChat(t)
  let release: (value?: unknown) => void = () => undefined
  const until = new Promise((resolve) => {
    release = resolve
  })
  provider.next({ text, hold: { after: 0, until } })
  const stream = await key.stream({ messages })
  t.match((await stream.frames.next()).value, {
    data: { choices: [{ delta: { role: 'assistant' } }] },
  })
  t.match((await stream.frames.next()).value, { data: { event: 'agent_started' } })
  release()
  t.equal((await stream.all()).at(-1)?.data, '[DONE]')
})

t.test('stream_options.include_usage: one more chunk before [DONE]', async (t) => {
  const { key } = await startChat(t, { text, usage })
  const stream = await key.stream({ messages, stream_options: { include_usage: true } })
  const items = await stream.all()
  t.match(items.at(-2)?.data, { choices: [], usage: { ...usage, total_tokens: 12 } })
  t.type(items.at(-2)?.data.session_id, 'string')
  t.equal(items.at(-3)?.data.choices[0].finish_reason, 'stop')
})

t.test('lifecycle events: plain by default, carriers for stock SDKs, or none', async (t) => {
  const { key } = await startChat(t, { text })
  const eventsWith = async (headers: Record<string, string>, options?: object) => {
    const body = { messages, ...(options ? { stream_options: options } : {}) }
    const stream = await key.stream(body, { headers })
    return stream.all()
  }
  const names = ['agent_started', 'agent_completed']
  const namesOf = (items: readonly Frame[]) => eventsOf(items).map(({ event }) => event)
  const isEmptyDelta = (choices: unknown) =>
    JSON.stringify(choices) === '[{"index":0,"delta":{},"finish_reason":null}]'
  const isPlain = ({ data }: Frame) => Boolean(data.event)
  const plain = await eventsWith({})
  t.strictSame(namesOf(plain), names)
  const lifecycle = plain.filter(isPlain).map(({ data }) => data)
  t.match(lifecycle, [
    {
      event: 'agent_started',
      agent: 'Orchestrator',
      agent_type: 'LLM_AGENT',
      depth: 0,
      parent_agent: null,
      timestamp: /^\d{4}-.*Z$/,
    },
    {
      event: 'agent_completed',
      agent: 'Orchestrator',
      duration_ms: Number,
      ok: true,
      timestamp: String,
    },
  ])
  for (const event of lifecycle) {
    t.notOk('choices' in event)
    t.notOk('error' in event, 'no lifecycle object ever has a top-level error')
  }
  for (const headers of [{ 'x-stainless-lang': 'js' }, { 'user-agent': 'ai-sdk/openai 6.0' }]) {
    const carried = await eventsWith(headers)
    t.notOk(carried.some(isPlain))
    t.strictSame(namesOf(carried), names)
    t.ok(
      carried.every(({ data }) => data === '[DONE]' || Array.isArray(data.choices)),
      'every item is an ordinary chunk',
    )
    t.ok(carried.every(({ data }) => !data.agent_event || isEmptyDelta(data.choices)))
  }
  const stainless = { 'x-stainless-lang': 'js' }
  t.ok((await eventsWith(stainless, { agent_events: 'plain' })).some(isPlain))
  t.notOk((await eventsWith({}, { agent_events: 'chunk' })).some(isPlain))
  t.strictSame(namesOf(await eventsWith({}, { agent_events: 'none' })), [])
  t.strictSame(namesOf(await eventsWith(stainless, { agent_events: 'none' })), [])
  const unknown = await key.stream({ messages, stream_options: { agent_events: 'loud' } })
  t.equal(unknown.status, 400)
  await unknown.reply.text()
})

t.test('an error after streaming began: an error frame, then [DONE]', async (t) => {
  const { key } = await startChat(t, { text, cutAfter: 3 })
  const items = await (await key.stream({ messages })).all()
  t.strictSame(items.at(-2)?.data, {
    error: {
      message: 'The model provider is unavailable',
      type: 'server_error',
      code: 'llm_service_unavailable',
    },
  })
  t.equal(items.at(-1)?.data, '[DONE]')
  t.equal(items.filter(({ data }) => data === '[DONE]').length, 1)
})

t.test('a comment line in silence', async (t) => {
  const { key, provider } = await startChat(t, { text }, { keepAliveMs: 20 })
  let release: (value?: unknown) => void = () => undefined
  const until = new Promise((resolve) => {
    release = resolve
  })
  provider.next({ text, hold: { after: 2, until } })
  const { reply } = await key.stream({ messages })
  const comments: string[] = []
  for await (const block of blocksOf(reply.body)) {
    if (!block.startsWith(':')) continue
    comments.push(block)
    if (comments.length === 3) release()
  }
  t.ok(comments.length >= 3)
  t.strictSame(new Set(comments), new Set([': keep-alive']))
})

t.test('the stock OpenAI client', async (t) => {
  const { key, server, provider } = await startChat(t, { text, usage })
  const openai = new OpenAI({ apiKey: key.key, baseURL: `${server.url}/api/external/v1` })
  const ask = { model: 'svc-orchestrator', messages: [{ role: 'user' as const, content: 'Hi' }] }

  const completion = await openai.chat.completions.create(ask)
  t.equal(completion.choices[0]?.message.content, text)
  t.equal(completion.usage?.total_tokens, 12)

  const pieces: string[] = []
  const stream = await openai.chat.completions.create({
    ...ask,
    stream: true,
    stream_options: { include_usage: true },
  })
  let total = 0
  for await (const chunk of stream) {
    pieces.push(chunk.choices[0]?.delta.content ?? '')
    total = chunk.usage?.total_tokens ?? total
  }
  t.equal(pieces.join(''), text)
  t.equal(total, 12)

  const helper = openai.chat.completions.stream(ask)
  t.equal((await helper.finalChatCompletion()).choices[0]?.message.content, text)

  provider.next({ text: 'Goodbye, then.' })
  const bye = await openai.chat.completions.stream(ask).finalChatCompletion()
  t.match(bye.choices[0]?.message.tool_calls, [{ function: { name: 'end_call' } }])
  t.equal(bye.choices[0]?.finish_reason, 'tool_calls')

  const session = await openai.chat.completions.create({
    ...ask,
    // @ts-expect-error beyond OpenAI's own parameters
    session_id: 'chosen',
  })
  t.match(session, { session_id: 'chosen' })

  await t.rejects(
    openai.chat.completions.create({ ...ask, messages: [] }),
    { status: 400, code: 'missing_required_field', param: 'messages' },
    'errors are read by the SDK',
  )
  const stranger = new OpenAI({ apiKey: 'nobody', baseURL: `${server.url}/api/external/v1` })
  await t.rejects(stranger.chat.completions.create(ask), { status: 401, code: 'invalid_api_key' })

  provider.next({ text, cutAfter: 3 })
  const broken = await openai.chat.completions.create({ ...ask, stream: true })
  await t.rejects(
    async () => {
      for await (const _ of broken);
    },
    { code: 'llm_service_unavailable' },
    'an error frame becomes an error',
  )
})

t.test('a tool that failed says so when it completes', async (t) => {
  const { key, provider } = await startChat(t)
  provider.next({ calls: [{ name: 'nothing', arguments: {} }] }, { text })
  const items = await (await key.stream({ messages })).all()
  const results = eventsOf(items).filter(({ event }) => event === 'tool_completed')
  t.match(results, [{ tool_name: 'nothing', ok: false }])
  t.match(eventsOf(items).at(-1), { event: 'agent_completed', ok: true }, 'the agent goes on')
})
