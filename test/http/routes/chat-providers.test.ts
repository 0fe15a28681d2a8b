import t from 'tap'
import { eventsOf, textOf, user } from '../../support/client.ts'
import { chunk, endsWith, sse } from '../../support/provider-chunks.ts'
import { startChat } from '../../support/server.ts'

const messages = user('Hi')
const weather = { type: 'function', function: { name: 'get_weather', parameters: {} } }
const now = { type: 'function', function: { name: 'now', parameters: {} } }
const tools = [weather, now]

const call = (name: string, args: unknown, id: unknown = '') =>
  chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }] })

const oslo = '{"city":"Oslo"}'
const rome = '{"city":"Rome"}'

t.test('parallel calls of a provider that numbers all of them 0 reach the client', async (t) => {
  const { key, provider } = await startChat(t)
  const raw = sse(
    call('get_weather', oslo),
    call('get_weather', rome),
    call('now', ''),
    endsWith('stop'),
  )
  provider.next({ raw }, { raw })
  const { body } = await key.chat({ messages, tools, session_id: 's' })
  const [{ finish_reason, message }] = body.choices
  t.equal(finish_reason, 'tool_calls')
  const calls = message.tool_calls.map((call: { function: object }) => call.function)
  t.strictSame(calls, [
    { name: 'get_weather', arguments: oslo },
    { name: 'get_weather', arguments: rome },
    { name: 'now', arguments: '{}' },
  ])
  const ids: string[] = message.tool_calls.map(({ id }: { id: string }) => id)
  t.equal(new Set(ids).size, 3)

  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: id }))
  await key.chat({ messages: results, tools, session_id: 's' })
  const history = provider.requests[1]?.body.messages as {
    role: string
    tool_call_id?: string
    tool_calls?: { id: string; function: { arguments: string } }[]
  }[]
  const sentCalls = history.find(({ role }) => role === 'assistant')?.tool_calls ?? []
  t.equal(new Set(sentCalls.map(({ id }) => id)).size, 3, 'the provider gets distinct ids')
  t.strictSame(
    history.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id),
    sentCalls.map(({ id }) => id),
  )
  t.strictSame(
    sentCalls.map((call) => call.function.arguments),
    [oslo, rome, '{}'],
  )
})

t.test('a call that was cut off ends the answer with its reason', async (t) => {
  const { key, provider } = await startChat(t)
  const cut = (reason: string) => ({
    raw: sse(chunk({ content: 'Let me see' }), call('get_weather', '{"ci', 'a'), endsWith(reason)),
  })
  for (const reason of ['length', 'content_filter']) {
    provider.next(cut(reason), cut(reason), cut(reason))
    const { body } = await key.chat({ messages, tools, session_id: reason })
    t.strictSame(body.choices, [
      {
        index: 0,
        message: { role: 'assistant', content: 'Let me see' },
        finish_reason: reason,
      },
    ])
    const items = await (await key.stream({ messages, tools })).all()
    const reasons = items.flatMap(({ data }) => data.choices?.[0]?.finish_reason ?? [])
    t.strictSame(reasons, [reason])
    t.notMatch(JSON.stringify(items), /tool_calls|get_weather/)
    const response = await key.ask('POST', '/api/external/v1/responses', {
      input: 'Hi',
      tools: [{ type: 'function', name: 'get_weather', parameters: {} }],
    })
    t.match(response.body, {
      status: 'incomplete',
      incomplete_details: {
        reason: reason === 'length' ? 'max_output_tokens' : 'content_filter',
      },
      output: [{ type: 'message', status: 'incomplete' }],
    })
    t.equal(response.body.output.length, 1)
  }
  t.equal(provider.requests.length, 6, 'no retries')
  const next = await key.chat({ messages, session_id: 'length' })
  t.equal(next.status, 200, 'the session goes on')
})

t.test('a streamed response whose call was cut off is incomplete', async (t) => {
  const { key, provider } = await startChat(t)
  provider.next({ raw: sse(call('get_weather', '{"ci', 'a'), endsWith('length')) })
  const { body } = await key.ask('POST', '/api/external/v1/responses', {
    input: 'Hi',
    stream: true,
    tools: [{ type: 'function', name: 'get_weather', parameters: {} }],
  })
  t.match(body, '"type":"response.incomplete"')
  t.match(body, '"incomplete_details":{"reason":"max_output_tokens"}')
  t.notMatch(body, /response\.completed|function_call/)
})

t.test('a call of an agent’s own tool that was cut off is not made', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const agent = await organization.agent({ name: 'Rememberer', tools: [{ type: 'remember' }] })
  const raw = sse(call('remember', '{"text":"The code is 17"}', 'a'), endsWith('length'))
  provider.next({ raw })
  const request = { messages, target_agent_id: agent }
  const items = await (await key.stream(request)).all()
  t.notOk(eventsOf(items).some(({ event }) => event === 'tool_started'))
  t.equal(provider.requests.length, 1)
})

t.test('requests that are too long leave the provider to others', async (t) => {
  const { key, provider, server } = await startChat(t)
  const error = {
    message: 'too long',
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
  }
  for (let n = 0; n < 6; n++) {
    provider.next({ raw: `data: ${JSON.stringify({ error })}\n\n` })
    t.match(await key.chat({ messages }), { status: 400, code: 'context_length_exceeded' })
  }
  t.equal(provider.requests.length, 6, 'no retries')
  const other = await (await server.platform.organization()).key()
  t.equal((await other.chat({ messages })).status, 200)
})

t.test('an answer in JSON is streamed to the client', async (t) => {
  const { key, provider } = await startChat(t)
  const choices = [{ index: 0, message: { content: 'Hello you' }, finish_reason: 'stop' }]
  provider.next({
    raw: JSON.stringify({ object: 'chat.completion', choices }),
    headers: { 'content-type': 'application/json' },
  })
  const items = await (await key.stream({ messages })).all()
  t.equal(textOf(items.slice(0, -1)), 'Hello you')
})

t.test('a reason that means a failure fails the turn', async (t) => {
  const { key, provider } = await startChat(t)
  const raw = sse(chunk({ content: 'Half' }), endsWith('insufficient_system_resource'))
  provider.next({ raw })
  t.match(await key.chat({ messages }), { status: 503, code: 'llm_service_unavailable' })
})
