import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateObject } from 'ai'
import OpenAI, { APIError } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { contents, eventsOf, textOf, user } from '../../support/client.ts'
import { startApp, startChat } from '../../support/server.ts'

const at = (url: string) => `${url}/api/external/v1`

const city = z.object({
  name: z.string(),
  people: z.number().int().min(1),
  tags: z.array(z.enum(['old', 'new'])),
  coastal: z.boolean(),
})
const zurich = { name: 'Zürich', people: 450_000, tags: ['old'], coastal: true }
const zurichJson = JSON.stringify(zurich)
const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, people: { type: 'integer' } },
  required: ['name', 'people'],
  additionalProperties: false,
}
const format = { type: 'json_schema', json_schema: { name: 'city', schema, strict: true } }
const fits = '{"name":"Bern","people":1}'

const usage = { prompt_tokens: 10, completion_tokens: 5 }

/** A server whose agents answer offline, and a key. */
const offline = async (t: Test) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  return { server, organization, key: await organization.key() }
}

t.test('stock clients get the object that their schema asks for', async (t) => {
  const provided = await startChat(t, { text: zurichJson, usage })
  for (const { key, server } of [provided, await offline(t)]) {
    const isOffline = server !== provided.server
    const client = new OpenAI({ apiKey: key.key, baseURL: at(server.url) })
    const ask = {
      model: 'svc-orchestrator',
      messages: [{ role: 'user' as const, content: 'Tell me about Zürich' }],
      response_format: zodResponseFormat(city, 'city'),
    }
    const expected = isOffline
      ? { name: 'Tell me about Zürich', people: 1, tags: [], coastal: false }
      : zurich
    const parsed = await client.chat.completions.parse(ask)
    t.strictSame(parsed.choices[0]?.message.parsed, expected, 'openai .parse()')
    const stream = client.chat.completions.stream({ ...ask, stream: true })
    const final = await stream.finalChatCompletion()
    t.strictSame(final.choices[0]?.message.parsed, expected, 'openai .stream()')

    const ai = createOpenAICompatible({
      name: 'reprise',
      apiKey: key.key,
      baseURL: at(server.url),
      supportsStructuredOutputs: true,
    })
    const { object } = await generateObject({
      model: ai('svc-orchestrator'),
      schema: city,
      prompt: 'Tell me about Zürich',
    })
    t.strictSame(object, expected, 'AI SDK generateObject')

    const chain = new ChatOpenAI({
      model: 'svc-orchestrator',
      apiKey: key.key,
      configuration: { baseURL: at(server.url) },
    }).withStructuredOutput(city, { method: 'jsonSchema', name: 'city' })
    t.strictSame(await chain.invoke('Tell me about Zürich'), expected, 'LangChain')
  }
  t.match(provided.provider.requests[0]?.body.response_format, {
    type: 'json_schema',
    json_schema: { name: 'city', strict: true, schema: { type: 'object' } },
  })
})

t.test('an answer that does not fit is asked for once more, with what was wrong', async (t) => {
  const { key, provider, organization } = await startChat(t, undefined, undefined, {
    LLM_PRICES: JSON.stringify({ 'test/*': { prompt: 1, completion: 1 } }),
  })
  for (const stream of [false, true]) {
    const before = provider.requests.length
    provider.next({ text: '{"name":"Bern"}', usage }, { text: fits, usage })
    const request = {
      messages: user('Which city?'),
      response_format: format,
      session_id: `${stream}`,
    }
    if (stream) {
      const frames = await (await key.stream(request)).all()
      t.equal(textOf(frames), fits, 'only what fits is streamed')
      t.equal(frames.at(-1)?.data, '[DONE]')
      t.ok(eventsOf(frames).some(({ event }) => event === 'agent_started'))
    } else {
      const { status, body } = await key.chat(request)
      t.equal(status, 200)
      t.equal(body.choices[0].message.content, fits)
      t.equal(body.choices[0].finish_reason, 'stop')
      t.equal(body.usage.total_tokens, 30, 'both answers are paid for')
    }
    t.strictSame(await contents(key, `${stream}`), ['Which city?', fits], 'what fits is stored')
    const [first, second, ...more] = provider.requests.slice(before)
    t.equal(more.length, 0)
    t.match(first?.body.response_format, format)
    t.match(second?.body.response_format, format)
    const [answer, correction] = second?.body.messages.slice(-2) ?? []
    t.match(answer, { role: 'assistant', content: '{"name":"Bern"}' })
    t.match(correction, { role: 'user', content: /must have required property 'people'/ })
  }
  t.equal((await organization.balance()).balance, 100 - 60 / 1_000_000)
})

t.test('a turn fails after two invalid answers, and both are charged', async (t) => {
  const reply = { text: 'Sure! Bern.', usage }
  const { key, server, provider, organization } = await startChat(t, reply, undefined, {
    LLM_PRICES: JSON.stringify({ 'test/*': { prompt: 1, completion: 1 } }),
  })
  const request = { messages: user('Which city?'), response_format: format }
  const { status, code, headers, body } = await key.chat({ ...request, session_id: 's' })
  t.equal(status, 502)
  t.equal(code, 'invalid_model_output')
  t.equal(headers.get('x-should-retry'), 'false')
  t.match(body.error, { type: 'server_error', code: 'invalid_model_output' })
  t.equal(provider.requests.length, 2)
  t.strictSame(await contents(key, 's'), ['Which city?'], 'nothing of it is stored')
  const frames = await (await key.stream(request)).all()
  t.equal(textOf(frames), '', 'nothing of it is streamed')
  t.match(frames.at(-2)?.data.error, { code: 'invalid_model_output' })
  const left = 100 - 60 / 1_000_000
  t.strictSame(await organization.balance(), { balance: left, effective: left }, 'four answers')
  const client = new OpenAI({ apiKey: key.key, baseURL: at(server.url) })
  const failed = await client.chat.completions
    .parse({
      model: 'x',
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: zodResponseFormat(city, 'city'),
    })
    .catch((error: unknown) => error)
  t.ok(failed instanceof APIError && failed.status === 502)
  t.equal(provider.requests.length, 6, 'the SDK does not ask again')
})

t.test('json_object: any object will do, and the model is told so', async (t) => {
  const { key, provider } = await startChat(t, { text: '{"a":1}' })
  const request = { messages: user('Hi'), response_format: { type: 'json_object' } }
  t.equal((await key.chat(request)).body.choices[0].message.content, '{"a":1}')
  t.match(provider.requests[0]?.body.response_format, { type: 'json_object' })
  t.match(provider.requests[0]?.body.messages[0], { role: 'system', content: /one JSON object/ })
  provider.next({ text: '[1]' }, { text: '"a"' })
  t.equal((await key.chat(request)).status, 502)
  const plain = { messages: user('Hi'), response_format: { type: 'text' } }
  t.equal((await key.chat(plain)).status, 200)
  t.notOk('response_format' in (provider.requests.at(-1)?.body ?? {}))
  const offlineKey = (await offline(t)).key
  const content = (await offlineKey.chat(request)).body.choices[0].message.content
  t.strictSame(JSON.parse(content), { message: 'Hi' })
})

t.test('json_object with a schema is a schema to answer by', async (t) => {
  const { key, provider } = await startChat(t, { text: fits })
  const of = (schema: unknown) => ({
    messages: user('Hi'),
    response_format: { type: 'json_object', schema },
  })
  t.equal((await key.chat(of(schema))).body.choices[0].message.content, fits)
  t.match(provider.requests[0]?.body.response_format, {
    type: 'json_schema',
    json_schema: { name: 'answer', schema },
  })
  provider.next({ text: '{"a":1}' }, { text: '{"a":2}' })
  t.match(await key.chat(of(schema)), { status: 502, code: 'invalid_model_output' })
  t.equal((await key.chat(of(null))).status, 200)
  t.strictSame(provider.requests.at(-1)?.body.response_format, { type: 'json_object' })
  for (const wrong of [{ type: 'nothing' }, 'text'])
    t.match(await key.chat(of(wrong)), {
      status: 400,
      code: 'invalid_input',
      body: { error: { param: 'response_format.schema' } },
    })
  const content = (await (await offline(t)).key.chat(of(schema))).body.choices[0].message.content
  t.match(JSON.parse(content), { name: 'Hi', people: Number })
})

t.test('an answer that was cut off is given as it is, as OpenAI does', async (t) => {
  const { key, provider } = await startChat(t)
  for (const finishReason of ['length', 'content_filter']) {
    provider.next({ text: '{"name":"Be', finishReason })
    const { body } = await key.chat({ messages: user('Hi'), response_format: format })
    t.match(body.choices[0], { finish_reason: finishReason, message: { content: '{"name":"Be' } })
  }
  t.equal(provider.requests.length, 2)
})

t.test('words of an answer in a format call no keyword tools', async (t) => {
  const text = '{"name":"Goodbye","people":1}'
  const { key } = await startChat(t, { text })
  const { body } = await key.chat({ messages: user('Hi'), response_format: format })
  t.equal(body.choices[0].finish_reason, 'stop')
  t.notOk('tool_calls' in body.choices[0].message)
})

t.test('the format is for the agent that gives the final answer', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const drafts = await organization.agent({ name: 'Drafts' })
  const writes = await organization.agent({ name: 'Writes' })
  const team = (name: string, agent_type: string, more = {}) =>
    organization.agent({ name, agent_type, sub_agents: [drafts, writes], ...more })
  const chatWith = async (model: string, stream = false) => {
    const before = provider.requests.length
    const body = { messages: user('Hi'), response_format: format, model }
    const given = stream
      ? { status: 200, text: textOf(await (await key.stream(body)).all()) }
      : await key.chat(body).then(({ status, body }) => ({
          status,
          text: body.choices?.[0].message.content ?? body.error.code,
        }))
    const formats = provider.requests
      .slice(before)
      .map(({ body }) => body.response_format !== undefined)
    return { ...given, formats }
  }
  const sequence = await team('Sequence', 'SEQUENTIAL_AGENT')
  for (const stream of [false, true]) {
    provider.next({ text: 'A draft' }, { text: fits })
    t.strictSame(await chatWith(sequence, stream), {
      status: 200,
      text: fits,
      formats: [false, true],
    })
  }
  const loop = await team('Loop', 'LOOP_AGENT', { max_iterations: 2 })
  provider.next(
    { text: 'One' },
    { text: '{"name":"A","people":1}' },
    { text: 'Two' },
    { text: fits },
  )
  t.strictSame(await chatWith(loop, true), {
    status: 200,
    text: fits,
    formats: [false, true, false, true],
  })
  const parallel = await team('Parallel', 'PARALLEL_AGENT')
  t.strictSame(await chatWith(parallel), { status: 502, text: 'invalid_model_output', formats: [] })
  provider.next({ text: 'A draft' }, { text: 'No' }, { text: fits })
  t.strictSame(await chatWith(sequence), { status: 200, text: fits, formats: [false, true, true] })
})

t.test('schemas that cannot be used are refused, before anything is asked', async (t) => {
  const { key, provider } = await startChat(t)
  const of = (schema: unknown) => ({
    messages: user('Hi'),
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
  })
  const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) })
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`p${n}`, {}]))
  const names = Array.from({ length: 40 }, (_, n) => `d${n}`)
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]))
  const entangled = { $defs: Object.fromEntries(names.map((name) => [name, { properties }])) }
  for (const [schema, code] of [
    [{ type: 'nothing' }, 'invalid_input'],
    [{ $ref: 'http://127.0.0.1/x.json' }, 'invalid_input'],
    [{ pattern: '(' }, 'invalid_input'],
    ['text', 'invalid_input'],
    [deep(40), 'too_complex'],
    [{ properties: many }, 'too_complex'],
    [{ description: 'x'.repeat(70_000) }, 'too_complex'],
  ] as const) {
    const reply = await key.chat(of(schema))
    t.equal(reply.status, 400, JSON.stringify(schema).slice(0, 60))
    t.equal(reply.code, code)
    t.equal(reply.body.error.param, 'response_format.json_schema.schema')
  }
  for (const response_format of [{ type: 'xml' }, 'json', { type: 'json_schema' }, []])
    t.match(await key.chat({ messages: user('Hi'), response_format }), {
      status: 400,
      body: { error: { param: /^response_format/ } },
    })
  t.equal(provider.requests.length, 0)
  const costly = await key.chat(of({ ...entangled, properties }))
  t.ok([400, 502].includes(costly.status), 'compiled elsewhere, or refused')
})

t.test('a pattern that takes for ever is checked elsewhere, and given up', async (t) => {
  const evil = `{"name":"${'a'.repeat(60)}!"}`
  const { key, provider } = await startChat(t, { text: evil })
  const redos = { properties: { name: { type: 'string', pattern: '^(a+)+$' } } }
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: redos } }
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  const reply = await key.chat({ messages: user('Hi'), response_format })
  clearInterval(counting)
  t.equal(reply.status, 502)
  t.equal(provider.requests.length, 2)
  t.ok(turns > 0, 'others are served meanwhile')
})

t.test('the offline model gives the smallest answer that fits, whatever the schema', async (t) => {
  const { key, organization } = await offline(t)
  const agent = await organization.agent({ name: 'Solo' })
  const answerFor = async (schema: object) => {
    const { status, body } = await key.chat({
      messages: user('How are you?'),
      model: agent,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    return status === 200 ? JSON.parse(body.choices[0].message.content) : status
  }
  const tree = {
    $defs: {
      node: { type: 'object', required: ['kids'], properties: { kids: { type: 'array' } } },
    },
    $ref: '#/$defs/node',
  }
  t.strictSame(await answerFor(tree), { kids: [] })
  t.strictSame(
    await answerFor({
      type: 'object',
      required: ['kind', 'when', 'short', 'score'],
      properties: {
        kind: { enum: ['b', 'a'] },
        when: { type: 'string', format: 'date' },
        short: { type: 'string', maxLength: 3 },
        score: { type: 'number', exclusiveMinimum: 2 },
        more: { type: 'string' },
      },
    }),
    { kind: 'b', when: '2000-01-01', short: 'How', score: 2.5 },
  )
  const endless = {
    $defs: { a: { type: 'object', required: ['a'], properties: { a: { $ref: '#/$defs/a' } } } },
  }
  const large = { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } }
  for (const bomb of [{ ...endless, $ref: '#/$defs/a' }, large, { not: {} }])
    t.equal(await answerFor(bomb), 502, JSON.stringify(bomb))
})
