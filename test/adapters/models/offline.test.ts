import { lastValueFrom, take, toArray } from 'rxjs'
import t from 'tap'
import { offlineModel } from '../../../src/adapters/models/offline.ts'
import { transferSpec } from '../../../src/agents/transfer.ts'
import type { ChatMessage, ModelEvent, ModelSettings, ToolSpec } from '../../../src/ports/model.ts'
import { agentNamed } from '../../support/agents.ts'

const model = offlineModel()

const spec = (name: string, properties: Record<string, unknown> = {}): ToolSpec => ({
  name,
  description: name,
  parameters: { type: 'object', properties },
})

const transfer = transferSpec([
  agentNamed('Billing', { description: 'Invoices, refunds and payments: all about money' }),
  agentNamed('Travel', { description: 'Books flights\nand hotels' }),
])

const everything = [
  ...['generate_content', 'remember', 'recall', 'search_knowledge'].map((name) => spec(name)),
  spec('get_weather', { days: { type: 'integer' }, metric: { type: 'boolean' } }),
  transfer,
]

const hear = (messages: readonly ChatMessage[], tools: readonly ToolSpec[] = []) =>
  lastValueFrom(model.stream({ model: 'extractive', messages, tools }).pipe(toArray()))

const ask = (content: string, tools?: readonly ToolSpec[]) =>
  hear([{ role: 'user', content }], tools)

const textOf = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')

const callOf = (events: readonly ModelEvent[]) => {
  const [first] = events
  return first?.type === 'tool_call'
    ? { name: first.call.name, args: JSON.parse(first.call.arguments) }
    : undefined
}

/** What it says once a tool it called has answered. */
const after = async (message: string, name: string, content: string, args = {}) =>
  textOf(
    await hear([
      { role: 'user', content: message },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c', name, arguments: JSON.stringify(args) }],
      },
      { role: 'tool', toolCallId: 'c', name, content },
    ]),
  )

t.test('what it calls', async (t) => {
  const cases: [message: string, name: string, args: Record<string, unknown>][] = [
    ['Please draw a picture of a fox', 'generate_content', { content_type: 'image' }],
    ['make me a short VIDEO about it', 'generate_content', { content_type: 'video' }],
    ['Create a sound of rain', 'generate_content', { content_type: 'audio' }],
    ['generate a 3D model of a chair', 'generate_content', { content_type: 'glb' }],
    ['Remember that I like tea.', 'remember', { text: 'I like tea.' }],
    ['What do you remember about me?', 'recall', { query: 'What do you remember about me?' }],
    ['use get_weather city=Paris', 'get_weather', { city: 'Paris' }],
    [
      'Get weather with city="New York", days=3 metric=true.',
      'get_weather',
      { city: 'New York', days: 3, metric: true },
    ],
    ['I want a refund for my invoice', 'transfer_to_agent', { agent_name: 'Billing' }],
    ['Which hotel is near?', 'transfer_to_agent', { agent_name: 'Travel' }],
    ['How do magnets work?', 'search_knowledge', { query: 'How do magnets work?' }],
  ]
  for (const [message, name, args] of cases)
    t.match(callOf(await ask(message, everything)), { name, args }, message)
  t.match(callOf(await ask('draw an image: a fox', everything)), {
    args: { prompt: 'draw an image: a fox' },
  })
})

t.test('the order of its rules', async (t) => {
  const name = async (message: string) => callOf(await ask(message, everything))?.name
  t.equal(await name('Remember that you should draw a picture of my invoice'), 'generate_content')
  t.equal(await name('Remember that get_weather is about my invoice'), 'remember')
  t.equal(await name('get_weather for my invoice'), 'get_weather')
  t.equal(await name('goodbye, and thanks for the refund'), 'transfer_to_agent')
})

t.test('it calls only what it is offered', async (t) => {
  for (const message of ['Draw a picture', 'Remember that I like tea', 'What do you remember?'])
    t.equal(callOf(await ask(message, [transfer])), undefined, message)
})

t.test('nobody to transfer to below the threshold', async (t) => {
  const answer = textOf(await ask('How do magnets work?', [transfer]))
  t.match(answer, 'I understood your message: “How do magnets work?”.')
  t.match(answer, 'hand over to Billing and Travel')
})

t.test('passages are quoted, each with its file name', async (t) => {
  const filler = 'Nothing of interest is said in this sentence. '.repeat(12)
  const answer = await after(
    'How long is the warranty?',
    'search_knowledge',
    JSON.stringify({
      results: [
        { filename: 'terms.md', text: `${filler}The warranty is two years. ${filler}`, score: 2 },
        { filename: 'faq.txt', text: 'Warranty\n claims go to support.', score: 1 },
      ],
    }),
  )
  t.match(answer, /“The warranty is two years\. .*…” \(terms\.md\)/)
  t.match(answer, '“Warranty claims go to support.” (faq.txt)')
})

t.test('nothing found is said, a farewell is returned all the same', async (t) => {
  const nothing = JSON.stringify({ results: [] })
  t.equal(
    await after('Why?', 'search_knowledge', nothing),
    'I found nothing about that in the knowledge base.',
  )
  t.match(await after('Goodbye', 'search_knowledge', nothing), /nothing about that.*Goodbye!/)
})

t.test('memories', async (t) => {
  t.equal(
    await after('', 'remember', 'stored', { text: 'I like tea' }),
    'I will remember that: “I like tea”.',
  )
  const memories = JSON.stringify({ memories: [{ text: 'likes tea' }, 'has a dog'] })
  t.equal(await after('', 'recall', memories), 'I remember:\n- likes tea\n- has a dog')
  t.match(await after('', 'recall', '{"memories":[]}'), 'I remember nothing about you yet.')
})

t.test('what other tools came to', async (t) => {
  const result = JSON.stringify({ id: 'g1', content_type: 'image', status: 'pending' })
  t.match(await after('', 'generate_content', result), 'Your image is on its way: content g1')
  t.equal(await after('', 'get_weather', 'sunny'), 'get_weather answered: sunny')
  t.equal(
    await after('', 'get_weather', 'Error: no such city'),
    'get_weather did not work: no such city.',
  )
})

t.test('goodbye, and a request for a human', async (t) => {
  for (const message of ['bye', 'Good-bye then', 'Goodbye!'])
    t.match(textOf(await ask(message)), /^Goodbye!/, message)
  for (const message of ['Can I talk to a person?', 'Human agent please', 'I want a human'])
    t.match(textOf(await ask(message)), 'transfer you to a human agent', message)
  for (const message of ['A person of the humanities', 'Bypass the byelaws'])
    t.match(textOf(await ask(message)), 'I understood', message)
})

t.test('a client’s tool is also called by what it is for', async (t) => {
  const required = ['city']
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required }
  const tools = ['send_mail', 'get_weather', 'weather'].map((name) => ({
    ...spec(name),
    parameters,
    client: true as const,
  }))
  const called = async (message: string, offered: readonly ToolSpec[] = tools.slice(0, 2)) =>
    callOf(await ask(message, offered))
  t.strictSame(await called('What is the weather like in Paris?'), {
    name: 'get_weather',
    args: { city: '' },
  })
  t.equal(await called('Is there mail?'), undefined, 'of tools that ask for something')
  t.match(await called('What is the weather?', tools), { name: 'weather' }, 'its name comes first')
  t.equal(
    await called('What is the weather?', [spec('get_weather')]),
    undefined,
    'not the agent’s own',
  )
})

t.test('otherwise it quotes the message and names what it can do', async (t) => {
  const answer = textOf(await ask('What is the meaning of life?'))
  t.match(answer, 'I understood your message: “What is the meaning of life?”.')
  t.match(
    textOf(await ask('Hm', everything.slice(0, 3))),
    'I can generate images, videos, sounds and 3D models, remember what you tell me and tell you what I remember.',
  )
  t.match(textOf(await ask('Hm', [spec('get_weather')])), 'I can call get_weather.')
  t.ok(textOf(await ask('long '.repeat(1000))).length < 1000)
})

t.test('word by word, the same every time, with its own usage', async (t) => {
  const [events, again] = [await ask('Hello there'), await ask('Hello there')]
  t.strictSame(events, again)
  const words = events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
  t.ok(words.every((word) => /^\S+\s*$/.test(word)))
  t.match(events.at(-1), { usage: { promptTokens: 4 + 2 } })
  const used = await ask('“Hi!”')
  t.match(used.at(-1), { usage: { promptTokens: 4 + 4 } })
})

t.test('in one piece where nobody follows it', async (t) => {
  const request = {
    model: 'extractive',
    messages: [{ role: 'user', content: '  Hi you' }],
  } as const
  const words = await lastValueFrom(model.stream(request).pipe(toArray()))
  const buffered = await lastValueFrom(model.stream(request, true).pipe(toArray()))
  t.strictSame(buffered, [{ type: 'text', text: textOf(words) }, words.at(-1)])
})

t.test('the burst ends when nobody listens', async (t) => {
  const seen: ModelEvent[] = []
  model
    .stream({ model: 'extractive', messages: [{ role: 'user', content: 'Hello' }] })
    .pipe(take(2))
    .subscribe((event) => seen.push(event))
  t.strictSame(textOf(seen), 'I understood ')
})

t.test('hostile messages take no time worth measuring', async (t) => {
  for (const message of [
    'make '.repeat(1e6),
    `a=${'.'.repeat(1e6)}x`,
    'remember that '.repeat(1e5),
  ])
    t.ok((await ask(message, everything)).length > 0)
})

t.test('it ends before a stop, and after so many tokens', async (t) => {
  const message = 'Tell me about unbelievable things: a, b and c'
  const answerWith = async (settings: ModelSettings) => {
    const messages = [{ role: 'user' as const, content: message }]
    const events = await lastValueFrom(
      model.stream({ model: 'extractive', messages, ...settings }).pipe(toArray()),
    )
    const end = events.at(-1)
    if (end?.type !== 'done') throw new Error('it did not end')
    return { text: textOf(events), reason: end.finishReason, tokens: end.usage.completionTokens }
  }
  const full = await answerWith({})
  t.equal(full.reason, 'stop')
  t.strictSame(await answerWith({ stop: ['nowhere to be found'] }), full)
  t.strictSame(await answerWith({ maxTokens: full.tokens }), full)
  const stopped = await answerWith({ stop: ['things', 'unbelievable'] })
  t.equal(stopped.text, full.text.slice(0, full.text.indexOf('unbelievable')))
  t.equal(stopped.reason, 'stop')
  t.equal((await answerWith({ stop: [full.text.slice(0, 1)] })).text, '')
  for (const limit of [1, 2, 3, 5, 8]) {
    const cut = await answerWith({ maxTokens: limit })
    t.equal(cut.tokens, limit)
    t.equal(cut.reason, 'length')
    t.ok(full.text.startsWith(cut.text))
    t.strictSame(await answerWith({ maxCompletionTokens: limit }), cut)
  }
})

t.test('an answer is cut between grapheme clusters', async (t) => {
  const settings: ModelSettings = { maxTokens: 40 }
  const content = '👨‍👩‍👧‍👦'.repeat(100)
  const messages: ChatMessage[] = [{ role: 'user', content }]
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const input = { model: 'extractive', messages }
  const answer = await lastValueFrom(model.stream({ ...input, ...settings }).pipe(toArray()))
  const quoted = await ask(content)
  for (const events of [answer, quoted])
    for (const { segment } of graphemes.segment(textOf(events)))
      t.ok(segment === '👨‍👩‍👧‍👦' || segment.length === 1, segment)
  t.match(answer.at(-1), { finishReason: 'length' })
})
