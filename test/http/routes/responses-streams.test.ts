import t, { type Test } from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { blocksOf, type Client } from '../../support/client.ts'
import { eventIn } from '../../support/open-responses.ts'
import { startApp, startChat } from '../../support/server.ts'

const at = '/api/external/v1/responses'

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of an event
type Event = any

type Stream = { body: AsyncIterable<Uint8Array> | null; numbered: boolean }

/** The events of a stream, each as Open Responses describes it; `[DONE]` ends them. */
async function* eventsOf(t: Test, { body, numbered }: Stream): AsyncGenerator<Event> {
  let isOver = false
  for await (const block of blocksOf(body)) {
    if (block.startsWith(':')) continue
    const item = eventIn(block, numbered)
    if (isOver) t.fail(`after the end: ${block}`)
    isOver = item === undefined
    if (!item) continue
    if (item.faults.length > 0) t.fail(`${item.faults.join(', ')} in ${block}`)
    yield item.event
  }
  if (!isOver) t.fail('[DONE] did not come')
}

const all = async (t: Test, stream: Stream): Promise<Event[]> => {
  const events: Event[] = []
  for await (const event of eventsOf(t, stream)) events.push(event)
  return events
}

const streamed = async (key: Client, body: object): Promise<Stream> => {
  const { reply } = await key.open('POST', at, { stream: true, ...body })
  return { body: reply.body, numbered: 'background' in body }
}
const followed = async (key: Client, id: string, query = ''): Promise<Stream> => {
  const { reply } = await key.open('GET', `${at}/${id}?stream=true${query}`, undefined)
  return { body: reply.body, numbered: query !== '' }
}

const order = (events: readonly Event[]): string[] => events.map(({ type }) => type)
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } }

const text = (deltas: number, end = 'response.completed') => [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  ...Array(deltas).fill('response.output_text.delta'),
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  end,
]

const call = [
  'response.output_item.added',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.output_item.done',
]

t.test('events come in the order of OpenAI, numbered from 0', async (t) => {
  const f = { name: 'f', arguments: { a: 1 } }
  const cases: [string, object, object, string[]][] = [
    ['a text', { text: 'Two words' }, {}, text(2)],
    ['no text', { text: '' }, {}, text(0)],
    [
      'a text that is cut off',
      { text: 'Two words', finishReason: 'length' },
      {},
      text(2, 'response.incomplete'),
    ],
    [
      'calls',
      { calls: [f, f] },
      { tools: [tool] },
      ['response.created', 'response.in_progress', ...call, ...call, 'response.completed'],
    ],
    [
      'a text and a call',
      { text: 'Wait', calls: [f] },
      { tools: [tool] },
      [...text(1).slice(0, -1), ...call, 'response.completed'],
    ],
    ['structured', { text: '{"a": 1}' }, { text: { format: { type: 'json_object' } } }, text(1)],
  ]
  const { key, provider } = await startChat(t)
  for (const [what, reply, body, types] of cases) {
    provider.next(reply)
    const events = await all(t, await streamed(key, { input: 'Hi', ...body }))
    t.strictSame(order(events), types, what)
    t.strictSame(
      events.map(({ sequence_number }) => sequence_number),
      types.map((_, n) => n),
      what,
    )
    const { response } = events.at(-1)
    t.strictSame((await key.ask('GET', `${at}/${response.id}`)).body.output, response.output, what)
  }
})

t.test('events carry the items, texts and usage of the response', async (t) => {
  const { key, provider } = await startChat(t)
  provider.next({
    text: 'Wait a bit',
    calls: [{ name: 'f', arguments: { a: 'a long text that comes in pieces' } }],
    usage: { prompt_tokens: 7, completion_tokens: 5 },
  })
  const ask = { input: 'Hi', tools: [tool], metadata: { a: 'b' } }
  const events = await all(t, await streamed(key, ask))
  const of = (type: string) => events.filter((event) => event.type === `response.${type}`)
  const [created] = of('created')
  const { id } = created.response
  t.match(created.response, {
    status: 'in_progress',
    output: [],
    usage: null,
    metadata: { a: 'b' },
  })
  t.match(of('in_progress')[0].response, { id, status: 'in_progress' })
  const item_id = `msg_${id.slice(5)}`
  const place = { item_id, output_index: 0, content_index: 0 }
  t.match(of('output_item.added')[0], {
    output_index: 0,
    item: { type: 'message', id: item_id, status: 'in_progress', role: 'assistant', content: [] },
  })
  const part = { type: 'output_text', annotations: [], logprobs: [] }
  t.match(of('content_part.added')[0], { ...place, part: { ...part, text: '' } })
  for (const event of of('output_text.delta')) t.match(event, { ...place, logprobs: [] })
  const deltas = of('output_text.delta').map(({ delta }) => delta)
  t.equal(deltas.join(''), 'Wait a bit')
  t.match(of('output_text.done')[0], { ...place, text: 'Wait a bit', logprobs: [] })
  t.match(of('content_part.done')[0], { ...place, part: { ...part, text: 'Wait a bit' } })
  const item = { type: 'message', id: item_id, status: 'completed' }
  t.match(of('output_item.done')[0], { output_index: 0, item })

  const [, called] = of('output_item.added')
  t.match(called, { output_index: 1, item: { type: 'function_call', name: 'f', arguments: '' } })
  const at1 = { item_id: called.item.id, output_index: 1 }
  const pieces = of('function_call_arguments.delta')
  t.ok(pieces.length > 1)
  for (const piece of pieces) t.match(piece, at1)
  const args = '{"a":"a long text that comes in pieces"}'
  t.equal(pieces.map(({ delta }) => delta).join(''), args)
  t.match(of('function_call_arguments.done')[0], { ...at1, name: 'f', arguments: args })
  const completeItem = { ...called.item, arguments: args, status: 'completed' }
  t.match(of('output_item.done')[1], { output_index: 1, item: completeItem })
  const [completed] = of('completed')
  t.match(completed.response, {
    id,
    status: 'completed',
    output: [item, completeItem],
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
    metadata: { a: 'b' },
  })
})

t.test('a failure ends a stream, also one that comes early', async (t) => {
  const { key, provider } = await startChat(t)
  const go = deferred<void>()
  provider.next({ text: 'One two three', hold: { after: 2, until: go.promise }, cutAfter: 3 })
  const events = eventsOf(t, await streamed(key, { input: 'Hi' }))
  const seen: Event[] = []
  for await (const event of events) {
    seen.push(event)
    if (event.type === 'response.output_text.delta') go.resolve()
  }
  const { response } = seen.at(-1)
  t.strictSame(order(seen.slice(-2)), ['error', 'response.failed'])
  const { code, message, error } = seen.at(-2)
  t.match({ code, message }, response.error, 'as OpenAI describes it')
  t.match(error, { type: String, code, message, param: null }, 'as its SDKs raise it')
  t.match(response, { status: 'failed', output: [], usage: null, error: { message: String } })
  t.match((await key.ask('GET', `${at}/${response.id}`)).body, {
    status: 'failed',
    error: { code: response.error.code },
  })
  const early = await key.ask('POST', at, { input: 'Hi', stream: true, previous_response_id: 'x' })
  t.match(early, { status: 404, body: { error: { code: 'response_not_found' } } })
})

t.test('a stream goes on after any of its events', async (t) => {
  const { key, provider } = await startChat(t)
  const go = deferred<void>()
  provider.next({ text: 'One two three', hold: { after: 3, until: go.promise } })
  const first = eventsOf(t, await streamed(key, { input: 'Hi' }))
  const before: Event[] = []
  for await (const event of first) {
    before.push(event)
    if (event.sequence_number === 5) break
  }
  const { id } = before[0].response
  t.match((await key.ask('GET', `${at}/${id}`)).body, { status: 'in_progress', output: [] })
  const ahead = await key.ask('GET', `${at}/${id}?stream=true&starting_after=7`)
  t.match(ahead, { status: 400, code: 'invalid_query' }, 'the number of an event to come')
  const rest = all(t, await followed(key, id, '&starting_after=5'))
  go.resolve()
  const after = await rest
  const events = await all(t, await followed(key, id))
  t.strictSame(order(events), text(3))
  t.strictSame(order([...before, ...after]), text(3), 'nothing is lost, nothing comes twice')
  for (const n of [events.length, 1e9, Number.MAX_SAFE_INTEGER])
    t.match(
      await key.ask('GET', `${at}/${id}?stream=true&starting_after=${n}`),
      { status: 400, body: { detail: { starting_after: ['There is no such event yet'] } } },
      'a number that was never sent',
    )
  for (const [n] of events.entries())
    t.strictSame(await all(t, await followed(key, id, `&starting_after=${n}`)), events.slice(n + 1))
})

t.test('a stored response is streamed again, always with its end', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  const live = await all(t, await streamed(server.as(key), { input: 'Hello there' }))
  const { response } = live.at(-1)
  await server.restart()
  const replay = await all(t, await followed(server.as(key), response.id))
  t.strictSame(order(replay), text(1))
  t.strictSame(replay.at(-1).response.output, response.output)
  for (const n of [0, 1, 2, 3])
    t.strictSame(
      await all(t, await followed(server.as(key), response.id, `&starting_after=${n}`)),
      replay.slice(n + 1),
    )
  const late = await all(t, await followed(server.as(key), response.id, '&starting_after=40'))
  t.strictSame(order(late), text(0).slice(4))
  t.strictSame(
    late.map(({ sequence_number }) => sequence_number),
    [41, 42, 43, 44],
  )
})
