import t from 'tap'
import { ModelFault } from '../../../src/ports/model.ts'
import {
  callsIn,
  chunk,
  endsWith,
  modelEvents,
  modelOf,
  sse,
  textIn,
} from '../../support/provider-chunks.ts'

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const done = (finishReason = 'stop') => ({
  type: 'done',
  finishReason,
  usage: { promptTokens: 7, completionTokens: 3 },
})
const end = endsWith('stop', { usage })
const lines = (...all: string[]) => all.join('\n')
const data = (value: unknown) => `data: ${JSON.stringify(value)}`
const pretty = (value: unknown) =>
  JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => `data: ${line}`)
    .join('\n')

/** Event streams that all say “Hello you”. */
const streams: Record<string, string> = {
  'a byte order mark': `\ufeff${sse(chunk({ content: 'Hello you' }), end)}`,
  'empty data': lines('data:', '', 'data', '', sse(chunk({ content: 'Hello you' }), end)),
  pings: lines(
    'event: ping',
    'data: 2026-01-01 00:00:00',
    '',
    'event: ping',
    'data: {"type":"ping"}',
    '',
    'event: heartbeat',
    'data:',
    '',
    sse(chunk({ content: 'Hello you' }), end),
  ),
  'retry times, ids and comments': lines(
    'retry: 3000',
    '',
    ': OPENROUTER PROCESSING',
    '',
    'id: 7',
    sse(chunk({ content: 'Hello you' }), end),
  ),
  'a named event': lines('event: completion', sse(chunk({ content: 'Hello you' }), end)),
  'JSON over several lines of data': lines(
    pretty(chunk({ content: 'Hello ' })),
    '',
    pretty(chunk({ content: 'you' })),
    '',
    sse(end),
  ),
  'JSON over several lines, and no blank lines': lines(
    pretty(chunk({ content: 'Hello ' })),
    pretty(chunk({ content: 'you' })),
    data(end),
    'data: [DONE]',
    '',
  ),
  'CR as line break': sse(chunk({ content: 'Hello you' }), end).replaceAll('\n', '\r'),
  'content in parts, thoughts among them': sse(
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The' }] }] }),
    chunk({ content: [{ type: 'text', text: 'Hello ' }] }),
    chunk({ content: [{ type: 'text', text: 'y' }, 'ou', { type: 'reference', ids: [1] }] }),
    end,
  ),
  'a message in place of a delta': sse({
    choices: [{ index: 0, message: { content: 'Hello you' }, finish_reason: 'stop' }],
    usage,
  }),
  'messages in place of deltas': sse(
    { choices: [{ message: { content: 'Hello ' } }] },
    { choices: [{ message: { content: 'you' } }] },
    end,
  ),
  'a message at the end that repeats all deltas': sse(
    chunk({ content: 'Hello ' }),
    chunk({ content: 'you' }),
    { choices: [{ message: { content: 'Hello you' }, finish_reason: 'stop' }], usage },
  ),
  'frames of a content filter': sse(
    { id: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }], usage: null },
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ content: 'Hello you' }, null, { content_filter_results: {} }),
    { id: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] },
    end,
  ),
  'an empty reason in each chunk': sse(chunk({ content: 'Hello you' }, ''), end),
  'a reason that is no text': sse(chunk({ content: 'Hello you' }, false), end),
}

for (const [shape, raw] of Object.entries(streams))
  t.test(`a stream is read with ${shape}`, async (t) => {
    const events = await modelEvents(t, { raw })
    t.equal(textIn(events), 'Hello you')
    t.match(events.at(-1), done())
    const slowly = await modelEvents(t, { raw, pieceBytes: 5 })
    t.equal(textIn(slowly), 'Hello you', 'also in small pieces')
    t.match(slowly.at(-1), done())
  })

t.test('the content type is compared without case and parameters', async (t) => {
  const raw = sse(chunk({ content: 'Hello you' }), end)
  for (const type of [
    'Text/Event-Stream',
    'text/event-stream;charset=UTF-8',
    'TEXT/EVENT-STREAM ; charset="utf-8"',
    'text/plain',
    'application/json',
  ])
    t.equal(textIn(await modelEvents(t, { raw, headers: { 'content-type': type } })), 'Hello you')
  const refused = modelEvents(t, {
    raw,
    headers: { 'content-type': 'text/html; x=text/event-stream' },
  })
  await t.rejects(refused, ModelFault)
})

const completion = (message: object, finish_reason = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage,
})

t.test('JSON in place of a stream is read as JSON', async (t) => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'now', arguments: '' } }]
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'text/event-stream'])
    for (const space of [undefined, 2]) {
      const headers = { 'content-type': type }
      const body = JSON.stringify(completion({ content: 'Hello you' }), null, space)
      const events = await modelEvents(t, { raw: body, headers, pieceBytes: 50 })
      t.match(events, [{ type: 'text', text: 'Hello you' }, done()], type)
      const called = JSON.stringify(completion({ content: null, tool_calls }, 'tool_calls'))
      const calling = await modelEvents(t, { raw: called, headers })
      t.strictSame(callsIn(calling), [{ id: 'a', name: 'now', arguments: '{}' }])
      t.match(calling.at(-1), done('tool_calls'))
    }
})

t.test(
  'chunks in JSON without an event stream are read, and what stands behind them is not',
  async (t) => {
    const body = JSON.stringify(completion({ content: 'Hello you' }))
    for (const raw of [
      `${body}\ndata: [DONE]\n\n`,
      [chunk({ content: 'Hello ' }), chunk({ content: 'you' }), end]
        .map((value) => JSON.stringify(value))
        .join('\n'),
    ]) {
      const events = await modelEvents(t, { raw, pieceBytes: 30 })
      t.equal(textIn(events), 'Hello you')
      t.match(events.at(-1), done())
    }
  },
)

t.test('JSON that is no answer is a fault, and is not retried', async (t) => {
  const headers = { 'content-type': 'application/json' }
  for (const raw of ['{"choices":', '[[[[', `{"choices":[${'[],'.repeat(60_000)}[]]}`]) {
    const { ask, requestCount } = await modelOf(t, [{ raw, headers }])
    await t.rejects(ask(), ModelFault, raw.slice(0, 20))
    t.equal(requestCount(), 1)
  }
  const endless = `{"choices":[{"message":{"content":"${'a'.repeat(4_200_000)}`
  await t.rejects(modelEvents(t, { raw: endless, headers }), ModelFault)
})
