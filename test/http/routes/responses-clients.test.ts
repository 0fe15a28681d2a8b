import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import OpenAI, { APIError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { ResponseInput } from 'openai/resources/responses/responses'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { deferred } from '../../../src/support/deferred.ts'
import { eventually } from '../../support/eventually.ts'
import { startApp, startChat } from '../../support/server.ts'

const model = 'svc-orchestrator'
const question = 'get_weather city=Paris'
const answer = 'get_weather answered: 18 degrees'
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather in a city',
  parameters,
  strict: true,
}

const startOffline = async (t: Test) => {
  const server = await startApp(t)
  const { key } = await (await server.platform.organization()).key()
  return { server, apiKey: key, baseURL: `${server.url}/api/external/v1` }
}

const startScripted = async (t: Test) => {
  const chat = await startChat(t)
  const baseURL = `${chat.server.url}/api/external/v1`
  return { ...chat, client: new OpenAI({ apiKey: chat.key.key, baseURL }) }
}

t.test('the openai package: whole, streamed, and gone on from', async (t) => {
  const { client, provider } = await startScripted(t)
  provider.next({ text: 'Four days.' })
  const first = await client.responses.create({ model, input: 'How many days?' })
  t.equal(first.output_text, 'Four days.')

  provider.next({ text: 'Quite sure.' })
  const stream = client.responses.stream({
    model,
    input: 'Sure?',
    previous_response_id: first.id,
  })
  let text = ''
  const snapshots: string[] = []
  stream.on('response.output_text.delta', ({ delta, snapshot }) => {
    text += delta
    snapshots.push(snapshot)
  })
  const second = await stream.finalResponse()
  t.equal(second.output_text, 'Quite sure.')
  t.equal(text, 'Quite sure.')
  t.equal(snapshots.at(-1), 'Quite sure.')
  const messages = provider.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system')
  t.strictSame(
    messages?.map(({ content }) => content),
    ['How many days?', 'Four days.', 'Sure?'],
  )

  const types: string[] = []
  for await (const { type } of await client.responses.create({ model, input: 'Hi', stream: true }))
    types.push(type)
  t.equal(types[0], 'response.created')
  t.equal(types.at(-1), 'response.completed')

  const read = await client.responses.retrieve(first.id)
  t.equal(read.output_text, 'Four days.')
  const items = []
  for await (const item of client.responses.inputItems.list(first.id)) items.push(item)
  t.match(items, [{ role: 'user', content: [{ text: 'How many days?' }] }])
})

t.test('the openai package: .parse() and structured streams', async (t) => {
  const { server: _, ...settings } = await startOffline(t)
  const client = new OpenAI(settings)
  const person = z.object({ name: z.string(), age: z.number() })
  const ask = {
    model,
    input: 'Who is there?',
    text: { format: zodTextFormat(person, 'person') },
  }
  const parsed = (await client.responses.parse(ask)).output_parsed
  t.match(parsed, { name: /Who is there/, age: Number })
  t.strictSame((await client.responses.stream(ask).finalResponse()).output_parsed, parsed)
})

t.test('the openai package: a loop of tools, with the response and with the history', async (t) => {
  const { server: _, ...settings } = await startOffline(t)
  const client = new OpenAI(settings)
  for (const stateful of [true, false])
    for (const streamed of [true, false]) {
      const how = `${stateful ? 'response' : 'history'}, ${streamed ? 'streamed' : 'whole'}`
      const ask = async (input: ResponseInput, previous?: string) => {
        const body = {
          model,
          input,
          tools: [weather],
          store: stateful,
          ...(previous ? { previous_response_id: previous } : {}),
        }
        return streamed
          ? await client.responses.stream(body).finalResponse()
          : await client.responses.create(body)
      }
      const input: ResponseInput = [{ role: 'user', content: question }]
      let response = await ask(input)
      const called: string[] = []
      for (let step = 0; step < 3; step++) {
        const calls = response.output.flatMap((item) =>
          item.type === 'function_call' ? [item] : [],
        )
        if (calls.length === 0) break
        const outputs = calls.map(({ call_id, arguments: args }) => {
          called.push(JSON.parse(args).city)
          return { type: 'function_call_output' as const, call_id, output: '18 degrees' }
        })
        input.push(...response.output.map((item) => item as ResponseInput[number]), ...outputs)
        response = stateful ? await ask(outputs, response.id) : await ask(input)
      }
      t.equal(response.output_text, answer, how)
      t.strictSame(called, ['Paris'], how)
    }
})

t.test('the openai package: in the background, polled, followed, cancelled, deleted', async (t) => {
  const { client, provider, server, organization } = await startScripted(t)
  const go = deferred<void>()
  provider.next({ text: 'One two three', hold: { after: 3, until: go.promise } })
  const pending = await client.responses.create({ model, input: 'Count', background: true })
  t.equal(pending.status, 'in_progress')
  const seen: number[] = []
  for await (const event of await client.responses.retrieve(pending.id, { stream: true })) {
    seen.push(event.sequence_number)
    if (event.type === 'response.output_text.delta') break
  }
  go.resolve()
  const rest: string[] = []
  const after = seen.at(-1) ?? 0
  const following = { stream: true, starting_after: after } as const
  for await (const event of await client.responses.retrieve(pending.id, following)) {
    seen.push(event.sequence_number)
    rest.push(event.type)
  }
  t.strictSame(seen, [...seen.keys()], 'nothing is lost, nothing comes twice')
  t.equal(rest.at(-1), 'response.completed')
  const done = await eventually(async () => {
    const response = await client.responses.retrieve(pending.id)
    return response.status === 'completed' ? response : undefined
  })
  t.equal(done.output_text, 'One two three')
  const replayed = client.responses.stream({ response_id: pending.id, starting_after: after })
  t.equal((await replayed.finalResponse()).output_text, 'One two three')

  provider.next({ silent: true })
  const silent = await client.responses.create({ model, input: 'Hi', background: true })
  t.equal((await client.responses.cancel(silent.id)).status, 'cancelled')
  t.equal((await client.responses.retrieve(silent.id)).status, 'cancelled')

  const { key } = await organization.key({ scopes: ['orchestrator:invoke', 'sessions:delete'] })
  const cleaner = new OpenAI({ apiKey: key, baseURL: `${server.url}/api/external/v1` })
  const { id } = await cleaner.responses.create({ model, input: 'Hi' })
  await cleaner.responses.delete(id)
  await t.rejects(cleaner.responses.delete(id), { status: 404, code: 'response_not_found' })
})

t.test('the openai package: refusals and failures, without a repetition', async (t) => {
  const { client, provider } = await startScripted(t)
  const failure = async (request: Promise<unknown>) =>
    request.then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof APIError)) throw error
        return { status: error.status, code: error.code, param: error.param }
      },
    )
  t.strictSame(
    await failure(client.responses.create({ model, input: 'Hi', tools: [{ type: 'web_search' }] })),
    { status: 400, code: 'unsupported_parameter', param: 'tools.0.type' },
  )
  provider.next({ status: 401 })
  t.match(await failure(client.responses.create({ model, input: 'Hi' })), {
    status: 500,
    code: 'model_misconfigured',
  })
  t.equal(provider.requests.length, 1)
  provider.next({ text: 'Half an answer', cutAfter: 2 })
  const stream = client.responses.stream({ model, input: 'Hi' })
  await t.rejects(stream.finalResponse(), { code: 'llm_service_unavailable', message: String })
  provider.next({ text: 'Half an answer', cutAfter: 2 })
  const events = await client.responses.create({ model, input: 'Hi', stream: true })
  const seen: string[] = []
  const raised: unknown[] = []
  try {
    for await (const { type } of events) seen.push(type)
  } catch (error) {
    raised.push(error)
  }
  t.strictSame(
    raised.map((error) => error instanceof APIError),
    [true],
    'raised once',
  )
  t.notOk(seen.includes('response.failed'))
})

t.test('LangChain with useResponsesApi: an answer, a stream, a call and its result', async (t) => {
  const { apiKey, baseURL } = await startOffline(t)
  const settings = { model, apiKey, configuration: { baseURL }, useResponsesApi: true }
  const plain = new ChatOpenAI(settings)
  const hello = await plain.invoke('Hello')
  t.match(hello.text, /Hello/)
  let text = ''
  for await (const chunk of await plain.stream('Hello')) text += chunk.text
  t.equal(text, hello.text)

  const tool = langchainTool(async () => '18 degrees', {
    name: 'get_weather',
    description: weather.description,
    schema: parameters,
  })
  const calling = new ChatOpenAI(settings).bindTools([tool])
  const message = new HumanMessage(question)
  const called = await calling.invoke([message])
  t.match(called.tool_calls, [{ name: 'get_weather', args: { city: 'Paris' } }])
  const result = new ToolMessage({
    content: '18 degrees',
    tool_call_id: called.tool_calls?.[0]?.id ?? '',
  })
  t.equal((await calling.invoke([message, called, result])).text, answer)

  const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const typed = new ChatOpenAI(settings).withStructuredOutput(person, { name: 'person' })
  t.match(await typed.invoke('Who is there?'), { name: /Who is there/ })
})
