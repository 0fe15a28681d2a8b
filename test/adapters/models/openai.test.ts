import { firstValueFrom, lastValueFrom, take, tap, toArray } from 'rxjs'
import t, { type Test } from 'tap'
import { type OpenAiOptions, openAiModel } from '../../../src/adapters/models/openai.ts'
import { sseData } from '../../../src/adapters/models/sse-data.ts'
import {
  type Model,
  type ModelEvent,
  ModelFault,
  type ModelRequest,
  ModelTimeout,
  ModelUnavailable,
} from '../../../src/ports/model.ts'
import { providerDouble, type Reply } from '../../support/provider-double.ts'

const apiKey = 'sk-very-secret'
const request: ModelRequest = {
  model: 'gpt-test',
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi' },
  ],
}

const setUp = async (t: Test, options: Partial<OpenAiOptions> = {}) => {
  const provider = await providerDouble()
  const model = openAiModel({ baseUrl: provider.url, apiKey, backOffMs: 1, ...options })
  t.teardown(async () => {
    await model.close()
    await provider.close()
  })
  return { provider, model }
}

const all = (model: Model, input = request) => lastValueFrom(model.stream(input).pipe(toArray()))

const textOf = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')

/** The error a call ends with, and what was said before it. */
const failing = async (model: Model) => {
  const events: ModelEvent[] = []
  const error = await lastValueFrom(
    model.stream(request).pipe(tap((event) => events.push(event))),
  ).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { error, text: textOf(events) }
}

t.test('text comes as it is streamed, with the usage of the provider', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({ text: 'Hello big world', usage: { prompt_tokens: 7, completion_tokens: 3 } })
  t.strictSame(await all(model), [
    { type: 'text', text: 'Hello ' },
    { type: 'text', text: 'big ' },
    { type: 'text', text: 'world' },
    { type: 'done', finishReason: 'stop', usage: { promptTokens: 7, completionTokens: 3 } },
  ])
  const [received] = provider.requests
  t.equal(received?.path, '/v1/chat/completions')
  t.equal(received?.headers.authorization, `Bearer ${apiKey}`)
  t.strictSame(received?.body, {
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  })
})

t.test('texts that arrive together are one piece in a buffered answer', async (t) => {
  const { provider, model } = await setUp(t)
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
  const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  const words = chunk('One ') + chunk('"two" ') + chunk('three')
  provider.next({ raw: words + end }, { raw: words + end }, { raw: `${words}data: {"choi\n\n` })
  const texts = (events: ModelEvent[]) =>
    events.flatMap((event) => (event.type === 'text' ? event.text : []))
  const pieces = ['One ', '"two" ', 'three']
  t.strictSame(texts(await all(model)), pieces)
  t.strictSame(texts(await lastValueFrom(model.stream(request, true).pipe(toArray()))), [
    pieces.join(''),
  ])
  const before: ModelEvent[] = []
  const broken = model.stream(request, true).pipe(tap((event) => before.push(event)))
  await t.rejects(lastValueFrom(broken), ModelFault)
  t.strictSame(texts(before), [pieces.join('')], 'also before a failure')
})

t.test('a refusal in place of an answer ends with content_filter', async (t) => {
  const { provider, model } = await setUp(t)
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  provider.next({
    raw: [
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: null, refusal: 'I cannot ' }),
      chunk({ refusal: 'help with that.' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ].join(''),
  })
  const events = await all(model)
  t.equal(textOf(events), 'I cannot help with that.')
  t.match(events.at(-1), { type: 'done', finishReason: 'content_filter' })
})

t.test('a conversation with tools is sent in the form of the protocol', async (t) => {
  const { provider, model } = await setUp(t)
  const spec = { name: 'add', description: 'Adds', parameters: { type: 'object' } }
  await all(model, {
    model: 'm',
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    seed: 7,
    presencePenalty: -1,
    frequencyPenalty: 1,
    maxTokens: 9,
    maxCompletionTokens: 8,
    reasoningEffort: 'low',
    tools: [spec],
    messages: [
      { role: 'user', content: 'Add' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c1', name: 'add', content: '3' },
    ],
  })
  t.match(provider.requests[0]?.body, {
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    seed: 7,
    presence_penalty: -1,
    frequency_penalty: 1,
    max_tokens: 9,
    max_completion_tokens: 8,
    reasoning_effort: 'low',
    tools: [{ type: 'function', function: spec }],
    messages: [
      { role: 'user', content: 'Add' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '3' },
    ],
  })
})

t.test('calls without arguments are sent with an empty object', async (t) => {
  const { provider, model } = await setUp(t)
  const toolCalls = ['', ' \n', 'null', '{"a":1}'].map((args, n) => ({
    id: `c${n}`,
    name: 'now',
    arguments: args,
  }))
  await all(model, { model: 'm', messages: [{ role: 'assistant', content: '', toolCalls }] })
  const [message] = provider.requests[0]?.body.messages ?? []
  t.match(
    message?.tool_calls,
    ['{}', '{}', '{}', '{"a":1}'].map((args) => ({ function: { arguments: args } })),
  )
})

t.test('parallel tool calls are put together by index', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({
    calls: [
      { name: 'weather', arguments: { city: 'Zürich' } },
      { name: 'time', arguments: { zone: 'UTC' } },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  })
  t.match(await all(model), [
    { type: 'tool_call', call: { name: 'weather', arguments: '{"city":"Zürich"}' } },
    { type: 'tool_call', call: { name: 'time', arguments: '{"zone":"UTC"}' } },
    { type: 'done', finishReason: 'tool_calls' },
  ])
})

t.test('a provider that numbers every call 0 is understood by their ids', async (t) => {
  const { provider, model } = await setUp(t)
  const call = (id: string, name: string) => ({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: '{}' } }] } },
    ],
  })
  const end = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
  const raw = [call('a', 'one'), call('b', 'two'), end]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
  provider.next({ raw })
  t.match(await all(model), [
    { call: { id: 'a', name: 'one', arguments: '{}' } },
    { call: { id: 'b', name: 'two', arguments: '{}' } },
    { type: 'done' },
  ])
})

t.test('characters split between packets are put together', async (t) => {
  const { provider, model } = await setUp(t)
  const text = 'Grüße, 日本語 🦊 ende'
  provider.next({ text, pieceBytes: 3 })
  t.equal(textOf(await all(model)), text)
})

t.test('an event stream can be split anywhere', async (t) => {
  const data: string[] = []
  const events = sseData((line) => data.push(line))
  for (const byte of Buffer.from('data: ü🦊\r\n\r\n: note\ndata:b\n'))
    events.feed(Buffer.from([byte]))
  events.end()
  t.strictSame(data, ['ü🦊', 'b'])
})

t.test('an end mark without a blank line after it ends the answer at once', async (t) => {
  const chunk = { choices: [{ delta: { content: 'Yes' }, finish_reason: 'stop' }] }
  const line = `data: ${JSON.stringify(chunk)}`
  for (const end of [
    '\n\ndata: [DONE]',
    '\n\ndata: [DONE]\n',
    '\r\n\r\ndata:[DONE]\r',
    '\ndata: [DONE]',
  ])
    for (const then of ['silence', 'a close', 'a cut'])
      t.test(JSON.stringify(end) + then, async (t) => {
        const { provider, model } = await setUp(t)
        const raw = line + end
        const after = { silence: { stallAfter: 1 }, 'a close': {}, 'a cut': { cutAfter: 1 } }[then]
        provider.next({ raw, ...after, pieceBytes: 7 })
        t.match(await all(model), [{ text: 'Yes' }, { type: 'done', finishReason: 'stop' }])
        t.equal(provider.requests.length, 1)
      })
})

t.test('an end mark inside a text is text', (t) => {
  const data: string[] = []
  const events = sseData((line) => data.push(line))
  for (const part of ['data: a data: [DONE]', '\n', ' data: [DONE]', '\n\n'])
    events.feed(Buffer.from(part))
  t.strictSame(data, ['a data: [DONE]'])
  t.end()
})

t.test('comments, CRLF, unknown fields and empty choices are passed over', async (t) => {
  const { provider, model } = await setUp(t)
  const raw = [
    ': keep-alive',
    'event: message',
    'data: {"choices":[]}',
    'data:{"choices":[{"delta":{"content":"Yes","mood":1},"finish_reason":"length"}],"x":1}',
    'data: [DONE]',
    '',
  ].join('\r\n')
  provider.next({ raw })
  t.match(await all(model), [{ text: 'Yes' }, { type: 'done', finishReason: 'length' }])
})

t.test('usage is counted where the provider reports none', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({ text: 'Hello world, again' })
  const [done] = (await all(model)).slice(-1)
  t.strictSame(done, {
    type: 'done',
    finishReason: 'stop',
    usage: { promptTokens: 4 + 3 + 4 + 1, completionTokens: 4 },
  })
})

t.test('impossible usage is replaced by our own count', async (t) => {
  const { provider, model } = await setUp(t)
  const counted = { promptTokens: 12, completionTokens: 3 }
  const says = async (usage: unknown) => {
    provider.next({ text: 'Hello big world', usage: usage as never })
    return (await all(model)).at(-1)
  }
  for (const wrong of [-1, 1.5, 2 ** 53, 1e300, '7', null, undefined])
    t.match(
      await says({ prompt_tokens: wrong, completion_tokens: wrong }),
      { type: 'done', usage: counted },
      String(wrong),
    )
  for (const wrong of ['much', 7, [], {}]) t.match(await says(wrong), { usage: counted })
})

t.test('usage above twice our own count and 10,000 is replaced by our count', async (t) => {
  const { provider, model } = await setUp(t)
  const prompt = 12
  const completion = 3
  for (const [reported, expected] of [
    [
      [2 * prompt + 10_000, 2 * completion + 10_000],
      [2 * prompt + 10_000, 2 * completion + 10_000],
    ],
    [
      [2 * prompt + 10_001, 2 * completion + 10_001],
      [prompt, completion],
    ],
    [
      [7, 1e15],
      [7, completion],
    ],
    [
      [1e15, 3],
      [prompt, 3],
    ],
  ] as const) {
    const [prompt_tokens, completion_tokens] = reported
    provider.next({ text: 'Hello big world', usage: { prompt_tokens, completion_tokens } })
    const [promptTokens, completionTokens] = expected
    t.match((await all(model)).at(-1), { usage: { promptTokens, completionTokens } })
  }
})

t.test(
  'half a character in a call is replaced, and one in two pieces is put together',
  async (t) => {
    const { provider, model } = await setUp(t)
    const piece = (id: string, name: string, args: string) =>
      `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"${id}","function":{"name":"${name}","arguments":"${args}"}}]}}]}\n\n`
    const end = 'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n'
    const raw =
      piece('a\\ud800', 'one\\udc00', '{\\"fox\\":\\"\\ud83e') +
      piece('', '', '\\udd8a\\ud800\\"}') +
      end
    provider.next({ raw })
    t.match(await all(model), [
      { call: { id: 'a\ufffd', name: 'one\ufffd', arguments: '{"fox":"🦊\ufffd"}' } },
      { type: 'done' },
    ])
  },
)

t.test(
  'half a character in a text is replaced, and one in two pieces is put together',
  async (t) => {
    const { provider, model } = await setUp(t)
    const chunk = (content: string) =>
      `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`
    const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    const raw = [
      chunk('a '),
      chunk('b\\ud83e'),
      chunk('\\udd8a'),
      chunk('\\udc00c'),
      chunk('\\ud83e'),
    ]
    const texts = (events: ModelEvent[]) =>
      events.flatMap((event) => (event.type === 'text' ? event.text : []))
    provider.next({ raw: raw.join('') + end }, { raw: raw.join('') + end })
    t.strictSame(texts(await all(model)), ['a ', 'b', '🦊', '\ufffdc', '\ufffd'])
    const buffered = await lastValueFrom(model.stream(request, true).pipe(toArray()))
    t.equal(textOf(buffered), 'a b🦊\ufffdc\ufffd')
  },
)

t.test('an escaped half of a character in the arguments of a call is replaced', async (t) => {
  const { provider, model } = await setUp(t)
  const args = String.raw`{"fox":"\ud83e\udd8a","half":"\ud83e"}`
  provider.next({
    raw: `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: args } }] }, finish_reason: 'tool_calls' }] })}\n\n`,
  })
  const expected = String.raw`{"fox":"\ud83e\udd8a","half":"`
  t.match(await all(model), [{ call: { arguments: `${expected}\ufffd"}` } }, { type: 'done' }])
})

t.test('a text without spaces is counted without waiting for it', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({ text: `${'a'.repeat(50_000)} <|endoftext|>` })
  t.match((await all(model)).at(-1), { usage: { completionTokens: 6_252 } })
  provider.next({ text: `${'a'.repeat(4_000)} <|endoftext|>` })
  t.match((await all(model)).at(-1), { usage: { completionTokens: 4_000 / 8 + 6 } })
})

t.test('connections are used again', async (t) => {
  const { provider, model } = await setUp(t, { connections: 1 })
  for (const _ of [1, 2, 3]) await all(model)
  t.equal(provider.connections(), 1)
})

t.test('failures that pass are tried again', async (t) => {
  const passing: Record<string, Reply> = {
    'a 500': { status: 500 },
    'a 503': { status: 503 },
    'a 429': { status: 429, headers: { 'retry-after': '0' } },
    'a cut before the first word': { cutAfter: 1 },
    'an error frame': { raw: 'data: {"error":{"message":"x","type":"overloaded_error"}}\n\n' },
    'an empty stream': { raw: '\n' },
  }
  for (const [name, reply] of Object.entries(passing))
    t.test(name, async (t) => {
      const { provider, model } = await setUp(t)
      provider.next(reply, reply, { text: 'At last' })
      t.equal(textOf(await all(model)), 'At last')
      t.equal(provider.requests.length, 3)

      provider.next(reply, reply, reply)
      const { error } = await failing(model)
      t.ok(error instanceof ModelUnavailable, `${error}`)
      t.equal(provider.requests.length, 6)
    })
})

t.test('a provider that asks for a long pause is not asked again', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({ status: 429, headers: { 'retry-after': '60' } })
  const { error } = await failing(model)
  t.match(error, { name: 'ModelUnavailable', retryAfterMs: 60_000 })
  t.equal(provider.requests.length, 1)
})

t.test('a provider that is not there', async (t) => {
  const { provider, model } = await setUp(t)
  await provider.close()
  const { error } = await failing(model)
  t.ok(error instanceof ModelUnavailable)
  t.match(error, { message: /ECONNREFUSED/ })
})

t.test('a model that was closed', async (t) => {
  const { model } = await setUp(t)
  await model.close()
  const { error } = await failing(model)
  t.ok(error instanceof ModelUnavailable, `${error}`)
})

t.test('an answer cut off in mid-stream is emitted once and not retried', async (t) => {
  for (const reply of [
    { text: 'One two three', cutAfter: 3 },
    { raw: 'data: {"choices":[{"delta":{"content":"One two "}}]}\n\n' },
  ])
    t.test(JSON.stringify(reply), async (t) => {
      const { provider, model } = await setUp(t)
      provider.next(reply)
      const { error, text } = await failing(model)
      t.ok(error instanceof ModelUnavailable, `${error}`)
      t.equal(text, 'One two ')
      t.equal(provider.requests.length, 1)
    })
})

t.test('garbage', async (t) => {
  const garbage: Record<string, Reply> = {
    'not JSON': { raw: 'data: {"choi\n\n' },
    'JSON of another shape': { raw: 'data: {"choices":[{"delta":{"content":7}}]}\n\n' },
    'a page': { raw: '<html>', headers: { 'content-type': 'text/html' } },
    'an endless line': { raw: `data: ${'x'.repeat(2_000_000)}` },
    'a call without a name': {
      raw: 'data: {"choices":[{"delta":{"tool_calls":[{"index":0}]},"finish_reason":"stop"}]}\n\n',
    },
    'a redirect': { status: 302, headers: { location: 'http://127.0.0.1/' } },
    'a 400': { status: 400 },
    'a 401': { status: 401, raw: JSON.stringify({ error: { code: `bad key ${apiKey}` } }) },
    'a 404 without a body': { status: 404, raw: '' },
    'an error frame that says 400': { raw: 'data: {"error":{"message":"x","code":400}}\n\n' },
  }
  for (const [name, reply] of Object.entries(garbage))
    t.test(name, async (t) => {
      const { provider, model } = await setUp(t)
      provider.next(reply)
      const { error } = await failing(model)
      t.ok(error instanceof ModelFault, `${error}`)
      t.notMatch(String(error instanceof Error ? error.stack : ''), apiKey)
      t.equal(provider.requests.length, 1)
    })
})

t.test('time-outs', async (t) => {
  const late: Record<string, [Partial<OpenAiOptions>, Reply]> = {
    'never answering': [{ firstMs: 300 }, { silent: true }],
    'silent after the headers': [{ firstMs: 300 }, { stallAfter: 0 }],
    'silent in mid-stream': [{ idleMs: 300 }, { text: 'One two', stallAfter: 2 }],
    'dripping for ever': [{ totalMs: 400 }, { text: 'word '.repeat(1000), pauseMs: 5 }],
  }
  for (const [name, [options, reply]] of Object.entries(late))
    t.test(name, async (t) => {
      const { provider, model } = await setUp(t, options)
      provider.next(reply)
      const { error } = await failing(model)
      t.ok(error instanceof ModelTimeout, `${error}`)
      t.equal(provider.requests.length, 1)
      await provider.requests[0]?.aborted
    })
})

t.test('unsubscribing aborts the request', async (t) => {
  const { provider, model } = await setUp(t)
  provider.next({ text: 'One two three', stallAfter: 3 }, { silent: true })
  const first = await firstValueFrom(model.stream(request).pipe(take(1)))
  t.strictSame(first, { type: 'text', text: 'One ' })
  await provider.requests[0]?.aborted

  const waiting = model.stream(request).subscribe()
  await provider.received(2)
  waiting.unsubscribe()
  await provider.requests[1]?.aborted
})
