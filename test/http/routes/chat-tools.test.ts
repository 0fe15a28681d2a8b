import t, { type Test } from 'tap'
import { type Client, type Frame, user } from '../../support/client.ts'
import { startApp, startChat } from '../../support/server.ts'

const tool = (name: string, parameters?: object) => ({
  type: 'function',
  function: { name, ...(parameters ? { parameters } : {}) },
})
const weather = tool('get_weather', {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city', 'days'],
})
const tools = [weather]
const called = (name: string, args: object = {}) => ({ name, arguments: { ...args } })

const startOffline = async (t: Test) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  return { server, organization, key: await organization.key() }
}

type Reply = Awaited<ReturnType<Client['chat']>>

const callsOf = ({ body }: Reply) => body.choices[0].message.tool_calls ?? []
const result = (id: string, content = '18 degrees') => ({ role: 'tool', tool_call_id: id, content })
const refused = ({ status, code }: Reply) => `${status} ${code}`

/** A call of get_weather that waits for its result. */
const opened = async (key: Client, session_id: string, content = 'get_weather city=Paris') => {
  const reply = await key.chat({ messages: user(content), tools, session_id })
  return { reply, id: callsOf(reply)[0]?.id as string }
}

t.test('a call, its result and the answer, by the session’s id', async (t) => {
  const { key } = await startOffline(t)
  const { reply, id } = await opened(key, 's')
  t.match(reply.body.choices, [{ finish_reason: 'tool_calls', message: { content: null } }])
  t.match(id, /^call_[\w-]{22}_0$/)
  const [call] = callsOf(reply)
  t.strictSame(JSON.parse(call.function.arguments), { city: 'Paris', days: 1 })
  const answer = { messages: [result(id)], tools, session_id: 's' }
  t.match((await key.chat(answer)).body.choices, [
    { finish_reason: 'stop', message: { content: 'get_weather answered: 18 degrees' } },
  ])
  t.equal(refused(await key.chat(answer)), '400 invalid_tool_result', 'answered before')
  const { messages, total } = (await key.messages('s')).body
  t.equal(total, 4)
  t.match(messages, [
    { event_type: 'user_message' },
    { event_type: 'assistant_message', content: '', tool_calls: [call] },
    { event_type: 'tool_message', content: '18 degrees', tool_call_id: id, agent: null },
    { event_type: 'assistant_message', content: 'get_weather answered: 18 degrees' },
  ])
  t.match((await key.sessions()).body.sessions, [{ message_count: 4 }])
})

t.test('the whole history finds the session, and needs none', async (t) => {
  const { key } = await startOffline(t)
  const messages: object[] = [...user('get_weather city=Rome')]
  const first = await key.chat({ messages, tools })
  const [call] = callsOf(first)
  messages.push(first.body.choices[0].message, result(call.id, '31 degrees'))
  const second = await key.chat({ messages, tools })
  t.match(second.body, {
    session_id: first.body.session_id,
    choices: [{ message: { content: 'get_weather answered: 31 degrees' } }],
  })
  t.equal(refused(await key.chat({ messages, tools })), '400 invalid_tool_result')
  const elsewhere = { id: 'call_abc123', type: 'function', function: call.function }
  const imported = [
    ...user('get_weather city=Oslo'),
    { role: 'assistant', content: null, tool_calls: [elsewhere] },
    result(elsewhere.id, '-4 degrees'),
  ]
  const third = await key.chat({ messages: imported, tools })
  t.match(third.body.choices, [{ message: { content: 'get_weather answered: -4 degrees' } }])
  t.not(third.body.session_id, first.body.session_id, 'a conversation that was begun elsewhere')
  const [question] = imported
  for (const unknown of [
    [question, result('call_abc123')],
    [question, { role: 'assistant', tool_calls: [elsewhere] }, result('call_other')],
    [result('call_AZq7wgAAcAAAAAAAAAAAAA_0')],
  ])
    t.equal(refused(await key.chat({ messages: unknown, tools })), '400 invalid_tool_result')
  const nameless = { role: 'tool', content: '?' }
  t.equal(refused(await key.chat({ messages: [nameless] })), '400 missing_required_field')
})

t.test('several calls at once are answered at once', async (t) => {
  const { key, provider } = await startChat(t)
  const two = { calls: [called('get_weather', { city: 'Paris' }), called('get_weather')] }
  provider.next({ text: 'Let me look.', ...two })
  const session_id = 's'
  const reply = await key.chat({ messages: user('Hi'), tools, session_id })
  t.equal(reply.body.choices[0].message.content, 'Let me look.')
  const [first, second] = callsOf(reply).map(({ id }: { id: string }) => id)
  const say = (...results: object[]) => key.chat({ messages: results, tools, session_id })
  const partial = await say(result(first))
  t.equal(refused(partial), '400 invalid_tool_result')
  t.match(partial.body.error.message, second, 'names what is missing')
  t.equal(refused(await say(result(first), result(first))), '400 invalid_tool_result')
  t.equal(refused(await say(result(first), result(second), result('x'))), '400 invalid_tool_result')
  t.equal(provider.requests.length, 1, 'refusals ask no model')
  t.equal((await say(result(second, 'B'), result(first, 'A'))).status, 200)
  t.match(provider.requests[1]?.body.messages.slice(-4), [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_0_get_weather' }, {}] },
    { role: 'tool', tool_call_id: 'call_0_get_weather', content: 'A' },
    { role: 'tool', tool_call_id: 'call_1_get_weather', content: 'B' },
  ])
})

t.test('the loop repeats; a refused provider leaves the calls open', async (t) => {
  const { key, provider, organization } = await startChat(t, undefined, {}, { LLM_RETRIES: '0' })
  const calls = {
    calls: [called('get_weather')],
    usage: { prompt_tokens: 10, completion_tokens: 1 },
  }
  provider.next(calls, calls, { status: 400 })
  const session_id = 's'
  const system = { role: 'system', content: 'Be brief.' }
  const request = { messages: [system, ...user('Hi')], tools, session_id }
  let reply = await key.chat(request)
  const ids = new Set<string>()
  for (const expected of [200, 500, 200]) {
    const [{ id }] = callsOf(reply)
    ids.add(id)
    const next = await key.chat({ messages: [result(id)], tools, session_id })
    t.equal(next.status, expected)
    if (expected === 200) reply = next
  }
  t.equal(ids.size, 2)
  t.equal(reply.body.choices[0].message.content, 'Hello from the double.')
  t.match(provider.requests.at(-1)?.body.messages, [
    { role: 'system' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null },
    { role: 'tool' },
    { role: 'assistant', content: null },
    { role: 'tool' },
  ])
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective, 'nothing stays reserved')
})

t.test('a new message closes what is open', async (t) => {
  const { server, organization, key } = await startOffline(t)
  const { id } = await opened(key, 's')
  t.equal((await key.chat({ messages: user('Never mind'), session_id: 's' })).status, 200)
  const late = await key.chat({ messages: [result(id)], session_id: 's' })
  t.equal(refused(late), '400 invalid_tool_result')
  const { events } = await server.platform.ask(
    'GET',
    `/organizations/${organization.organizationId}/audit/events?type=ClientToolsUnanswered`,
  )
  t.match(events, [{ data: { calls: [{ id, name: 'get_weather' }] } }])
})

t.test('calls of a session that is not one’s own are not answered', async (t) => {
  const { key, organization, server } = await startOffline(t)
  const { id } = await opened(key, 's')
  const foreign = await server.platform.organization()
  const elsewhere = await (await foreign.key()).chat({ messages: [result(id)] })
  t.equal(refused(elsewhere), '400 invalid_tool_result')
  const user_id = await organization.member()
  await server.platform.ask('PUT', `/users/${user_id}/subscription`, { plan: 'pro_monthly' })
  await server.platform.ask('POST', `/users/${user_id}/credits`, { amount: 9, reason: 'test' })
  const other = await organization.key({ type: 'user', user_id })
  for (const more of [{}, { session_id: 's' }])
    t.equal(refused(await other.chat({ messages: [result(id)], ...more })), '404 session_not_found')
  t.equal((await key.chat({ messages: [result(id)] })).status, 200, 'still open')
})

t.test('streamed: the head first, then arguments in pieces', async (t) => {
  const { key, provider, server } = await startChat(t)
  const args = { text: 'ünï¢ode 😀😀😀😀😀😀😀😀😀😀😀😀 and more of it' }
  provider.next({ text: 'Wait.', calls: [called('get_weather', args), called('get_weather')] })
  const session_id = 's'
  const stream = await key.stream({
    messages: user('Hi'),
    tools,
    session_id,
    stream_options: { agent_events: 'none' },
  })
  const frames = await stream.all()
  const put = (all: readonly Frame[]) => {
    const calls: { id: string; name: string; pieces: string[] }[] = []
    for (const { data } of all)
      for (const { index, id, function: fn } of data.choices?.[0]?.delta.tool_calls ?? []) {
        if (id) calls[index] = { id, name: fn.name, pieces: [] }
        else calls[index]?.pieces.push(fn.arguments)
      }
    return calls
  }
  const calls = put(frames)
  t.strictSame(
    calls.map(({ name, pieces }) => [name, JSON.parse(pieces.join(''))]),
    [
      ['get_weather', args],
      ['get_weather', {}],
    ],
  )
  t.ok((calls[0]?.pieces.length ?? 0) > 1)
  t.ok(calls[0]?.pieces.every((piece) => piece.isWellFormed()))
  t.match(frames.at(-2)?.data.choices[0], { delta: {}, finish_reason: 'tool_calls' })
  t.equal(frames.at(-1)?.data, '[DONE]')

  const again = async (id?: string) => {
    const headers = id === undefined ? {} : { 'last-event-id': id }
    return (await server.as(key.key).attach(session_id, { headers }, '?agent_events=none')).all()
  }
  t.strictSame(await again(), frames)
  await server.restart()
  for (
    let n = frames.findIndex(({ data }) => data.choices?.[0]?.delta.tool_calls);
    n < frames.length - 1;
    n++
  ) {
    const rest = await again(frames[n]?.id)
    t.strictSame(
      rest.map(({ data }) => data),
      frames.slice(n + 1).map(({ data }) => data),
    )
  }
  const results = calls.map(({ id }) => result(id))
  const after = await server.as(key.key).chat({ messages: results, tools, session_id })
  t.match(
    after.body.choices,
    [{ message: { content: 'Hello from the double.' } }],
    'after a restart',
  )
})

t.test('a request that comes twice is one turn', async (t) => {
  const { key, provider } = await startChat(t)
  provider.next({ calls: [called('get_weather')] }, { calls: [called('get_weather')] })
  const session_id = 's'
  const twice = async (body: object, n: number) => {
    const headers = { 'idempotency-key': `key-${n}` }
    const first = await key.chat(body, { headers })
    const second = await key.chat(body, { headers })
    t.strictSame(second.body, first.body)
    return first
  }
  const first = await twice({ messages: user('Hi'), tools, session_id }, 0)
  const second = await twice({ messages: [result(callsOf(first)[0].id)], tools, session_id }, 1)
  const sdk = (attempt: string) => ({ headers: { 'x-stainless-retry-count': attempt } })
  const last = { messages: [result(callsOf(second)[0].id)], tools, session_id }
  t.equal((await key.chat(last, sdk('0'))).status, 200)
  const retry = await key.chat(last, sdk('1'))
  t.equal(refused(retry), '400 invalid_tool_result', 'an answer that was delivered')
  t.equal(provider.requests.length, 3)
})

t.test('names that an agent has are taken', async (t) => {
  const { key, organization } = await startOffline(t)
  const ask = (name: string, more: object = {}) =>
    key.chat({ messages: user('Hi'), tools: [tool(name)], ...more })
  for (const name of ['transfer_to_agent', 'exit_loop'])
    t.equal(refused(await ask(name)), '400 tool_name_taken')
  const inner = await organization.agent({ name: 'Inner', tools: ['remember'] })
  const outer = await organization.agent({
    name: 'Outer',
    agent_type: 'SEQUENTIAL_AGENT',
    sub_agents: [inner],
    tools: ['end_call'],
  })
  const reply = await ask('remember', { target_agent_id: outer })
  t.equal(refused(reply), '400 tool_name_taken')
  t.match(reply.body.error, { param: 'tools' })
  t.equal((await ask('end_call', { target_agent_id: outer })).status, 200, 'called by words only')
})

t.test('the model receives only the allowed tools', async (t) => {
  const { key, provider } = await startChat(t)
  const named = (name: string) => ({ type: 'function', function: { name } })
  const tools = [named('f'), named('g')]
  const choice = (mode: string) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: [named('g')] },
  })
  const ask = (tool_choice: object) => key.chat({ messages: user('Hi'), tools, tool_choice })
  t.equal((await ask(choice('required'))).status, 200)
  const sent = provider.requests.at(-1)?.body
  t.equal(sent?.tool_choice, 'required')
  t.strictSame(
    [sent?.tools].flat().map((entry) => Object(entry).function.name),
    ['g'],
  )
})

t.test('tool_choice and parallel_tool_calls', async (t) => {
  const { key } = await startOffline(t)
  const all = [weather, tool('get_time')]
  const ask = async (tool_choice: unknown, more: object = {}) => {
    const reply = await key.chat({ messages: user('Hi'), tools: all, tool_choice, ...more })
    return reply.status === 200
      ? callsOf(reply).map(({ function: fn }: { function: { name: string } }) => fn.name)
      : refused(reply)
  }
  t.strictSame(await ask('auto'), [])
  t.strictSame(await ask('required'), ['get_weather'])
  t.strictSame(await ask('required', { messages: user('get_time now') }), ['get_time'])
  t.strictSame(await ask('none', { messages: user('get_time now') }), [])
  t.strictSame(await ask({ type: 'function', function: { name: 'get_time' } }), ['get_time'])
  t.equal(await ask({ type: 'function', function: { name: 'other' } }), '400 invalid_input')
  t.equal(await ask('required', { tools: [] }), '400 invalid_input')
  t.equal(await ask('sometimes'), '400 invalid_input')
})

t.test('a provider receives the tools, the tool choice and the calls of the request', async (t) => {
  const { key, provider } = await startChat(t)
  const strict = { type: 'function', function: { ...weather.function, strict: true } }
  const choice = { type: 'function', function: { name: 'get_weather' } }
  const body = { messages: user('Hi'), tools: [strict], tool_choice: choice }
  await key.chat({ ...body, parallel_tool_calls: false })
  t.match(provider.requests[0]?.body, {
    tool_choice: choice,
    parallel_tool_calls: false,
  })
  const given = provider.requests[0]?.body.tools as object[]
  t.strictSame(given.at(-1), {
    type: 'function',
    function: { ...weather.function, description: '', strict: true },
  })
  const earlier = [
    ...user('Weather?'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'w', arguments: '{}' } }],
    },
    result('call_1', 'Rain'),
    { role: 'assistant', content: 'Rain.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...choice, id: 'open', function: { name: 'w', arguments: '' } }],
    },
  ]
  await key.chat({ messages: [...earlier, ...user('Thanks')] })
  t.match(provider.requests[1]?.body.messages.slice(-5), [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
    { role: 'assistant', content: 'Rain.' },
    { role: 'user', content: 'Thanks' },
  ])
})

t.test('erased with the session', async (t) => {
  const { key, organization } = await startOffline(t)
  const all = await organization.key({
    scopes: [
      'orchestrator:invoke',
      'sessions:delete',
      'users:provision',
      'users:delegate',
      'sessions:messages',
    ],
  })
  const { body: guest } = await all.ask('POST', '/api/external/management/users', {
    email: 'guest@partner.example',
    organization_id: organization.organizationId,
  })
  const body = { messages: user('get_weather city=Paris'), tools, session_id: 'g' }
  const reply = await all.chat({ ...body, on_behalf_of: guest.user_id })
  const path = `/api/external/management/users/${guest.user_id}/sessions/g`
  t.equal((await all.ask('DELETE', path)).status, 200)
  const answer = { messages: [result(callsOf(reply)[0].id)], on_behalf_of: guest.user_id }
  const late = await all.chat(answer)
  t.ok(late.status === 404 || late.status === 400, refused(late))
  t.equal((await key.sessions()).body.total, 0)
})

t.test('bounds', async (t) => {
  const { key } = await startOffline(t)
  const ask = (offered: unknown[], more: object = {}) =>
    key.chat({ messages: user('Hi'), tools: offered, ...more })
  const many = Array.from({ length: 129 }, (_, n) => tool(`t${n}`))
  t.equal(refused(await ask(many)), '400 invalid_input')
  t.equal((await ask(many.slice(1))).status, 200)
  for (const name of ['', 'a b', 'ü', 'x'.repeat(65)])
    t.equal(refused(await ask([tool(name)])), '400 invalid_input', name)
  t.equal(refused(await ask([tool('a'), tool('a')])), '400 invalid_tool')
  t.equal(refused(await ask([{ type: 'web_search' }])), '400 invalid_input')
  const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {})
  const wide = Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`k${n}`, 1]))
  const long = { type: 'object', description: 'x'.repeat(70_000) }
  for (const parameters of [deep, wide, long])
    t.equal(refused(await ask([tool('a', parameters)])), '400 too_complex')
  const large = { type: 'object', description: 'x'.repeat(40_000) }
  const heavy = Array.from({ length: 10 }, (_, n) => tool(`t${n}`, large))
  t.equal(refused(await ask(heavy)), '400 too_complex', 'together')

  const { id } = await opened(key, 's')
  const answer = (content: string) =>
    key.chat({ messages: [result(id, content)], tools, session_id: 's' })
  t.equal(refused(await answer('x'.repeat(1_048_577))), '413 payload_too_large')
  t.equal((await answer('x'.repeat(1_048_576))).status, 200)
})

t.test('the calls and results that a waiting turn stores are bounded', async (t) => {
  const { key, provider } = await startChat(t)
  const session_id = 's'
  const again = { calls: [called('get_weather')] }
  provider.next(again, again, again, again)
  let reply = await key.chat({ messages: user('Hi'), tools, session_id })
  const statuses: string[] = []
  for (let n = 0; n < 3; n++) {
    const [{ id }] = callsOf(reply)
    const messages = [result(id, 'y'.repeat(900_000))]
    const next = await key.chat({ messages, tools, session_id })
    statuses.push(next.status === 200 ? '200' : refused(next))
    if (next.status === 200) reply = next
  }
  t.strictSame(statuses, ['200', '200', '400 context_length_exceeded'])
  const [{ id }] = callsOf(reply)
  const short = await key.chat({ messages: [result(id, 'short')], tools, session_id })
  t.equal(short.status, 200, 'the calls are still open')
})
