import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import { type Client, contents, isToken, textOf, user } from '../../support/client.ts'
import { held } from '../../support/held.ts'
import { startChat } from '../../support/server.ts'

type Message = { event_id: string; content: string; event_type: string; created_at: string }

const at = (session: string, rest = '') => `/api/external/sessions/${session}${rest}`

const fork = (key: Client, session: string, body?: object, headers: Record<string, string> = {}) =>
  key.ask('POST', at(session, '/fork'), body, { headers })

const regenerate = (
  key: Client,
  session: string,
  event: string,
  body?: object,
  headers: Record<string, string> = {},
) => key.ask('POST', at(session, `/messages/${event}/regenerate`), body, { headers })

const messagesOf = async (key: Client, session: string): Promise<Message[]> =>
  (await key.messages(session)).body.messages

/** A session of two turns. */
const spoken = async (key: Client, session_id: string) => {
  for (const content of ['One', 'Two']) await key.chat({ messages: user(content), session_id })
  return messagesOf(key, session_id)
}

t.test('a fork needs a plan and credits', async (t) => {
  const { key, organization, server } = await startChat(t, { text: 'Answer.' })
  const { ownerId } = organization
  const { platform } = server
  await spoken(key, 'source')
  await platform.ask('POST', `/users/${ownerId}/credits`, { amount: -1_000, reason: 'debt' })
  t.match(await fork(key, 'source'), { status: 402, code: 'insufficient_credits' })
  await platform.ask('PUT', `/users/${ownerId}/subscription`, { plan: null })
  t.match(await fork(key, 'source'), { status: 403, code: 'no_subscription' })
})

t.test('POST /api/external/sessions/{session_id}/fork', async (t) => {
  const { key, provider, organization } = await startChat(t, { text: 'Answer.' })
  const messages = await spoken(key, 'source')
  const before = await organization.balance()
  const calls = provider.requests.length
  const [, first] = messages
  const forked = await fork(key, 'source', { after: first?.event_id })
  t.equal(forked.status, 201)
  t.strictSame(Object.keys(forked.body), ['session_id', 'forked_from', 'after'])
  t.match(forked.body, { forked_from: 'source', after: first?.event_id })
  const { session_id } = forked.body
  t.not(session_id, 'source')

  const copied = await messagesOf(key, session_id)
  t.strictSame(
    copied.map(({ event_id: _, ...message }) => message),
    messages.slice(0, 2).map(({ event_id: _, ...message }) => message),
    'the messages up to there, with their times and agents',
  )
  const ids = [...messages, ...copied].map(({ event_id }) => event_id)
  t.equal(new Set(ids).size, ids.length, 'each with an id of its own')
  t.equal(provider.requests.length, calls, 'no model was called')
  t.strictSame(await organization.balance(), before, 'and nothing charged')

  const complete = await fork(key, 'source', { session_id: 'whole' })
  t.match(complete, {
    status: 201,
    body: { session_id: 'whole', after: messages.at(-1)?.event_id },
  })
  t.equal((await messagesOf(key, 'whole')).length, 4, 'without after: all of it')
  const again = await fork(key, 'whole', { session_id: 'again' })
  t.match(again, { status: 201, body: { forked_from: 'whole' } })
  t.strictSame(await contents(key, 'again'), await contents(key, 'source'), 'a fork of a fork')

  provider.next({ text: 'Other.' })
  await key.chat({ messages: user('Three'), session_id })
  const sent = provider.requests.at(-1)?.body.messages.slice(-3)
  t.match(sent, [{ content: 'One' }, { content: 'Answer.' }, { content: 'Three' }])
  t.strictSame(await contents(key, session_id), ['One', 'Answer.', 'Three', 'Other.'])
  t.strictSame(await contents(key, 'source'), ['One', 'Answer.', 'Two', 'Answer.'])
})

t.test('GET /api/external/sessions/{session_id}: a session and its forks', async (t) => {
  const { key } = await startChat(t, { text: 'Answer.' })
  const [first] = await spoken(key, 'root')
  const source = await key.ask('GET', at('root'))
  t.strictSame(source.status, 200)
  t.match(source.body, { session_id: 'root', forked_from: null, forked_after: null, forks: [] })
  t.match(source.body, { message_count: 4, hidden: false, is_active: true })
  await fork(key, 'root', { session_id: 'one', after: first?.event_id })
  await fork(key, 'root', { session_id: 'two' })
  const { body } = await key.ask('GET', at('root'))
  const ids = body.forks.map(({ session_id }: { session_id: string }) => session_id)
  t.strictSame(ids.toSorted(), ['one', 'two'])
  t.match(await key.ask('GET', at('one')), {
    body: { forked_from: 'root', forked_after: first?.event_id, message_count: 1, forks: [] },
  })
  const { sessions } = (await key.sessions()).body
  const listed = (id: string) =>
    sessions.find(({ session_id }: { session_id: string }) => session_id === id)
  t.match(listed('one'), { forked_from: 'root', message_count: 1 })
  t.notOk('forked_from' in listed('root'))
  t.match(await key.ask('GET', at('none')), { status: 404, code: 'session_not_found' })
})

t.test(
  'forks and regenerations without a valid source, name or permission are refused',
  async (t) => {
    const { key, server, organization } = await startChat(t, { text: 'Answer.' })
    const [first] = await spoken(key, 'mine')
    await spoken(key, 'other')
    const foreign = (await messagesOf(key, 'other'))[0]?.event_id
    for (const after of ['unknown', foreign])
      t.match(await fork(key, 'mine', { after }), {
        status: 404,
        code: 'message_not_found',
        body: { detail: /message/ },
      })
    t.match(await fork(key, 'nowhere'), { status: 404, code: 'session_not_found' })
    t.match(await fork(key, 'mine', { session_id: 'other' }), {
      status: 409,
      code: 'session_exists',
      body: { detail: /exists/ },
    })
    t.match(await fork(key, 'mine', { session_id: 'no spaces' }), { status: 400 })
    t.match(await fork(key, 'mine', { after: 7 }), { status: 400 })
    t.equal((await key.sessions()).body.total, 2, 'nothing was made')

    const member = await organization.member()
    await server.platform.ask('PUT', `/users/${member}/subscription`, { plan: 'pro_monthly' })
    await server.platform.ask('POST', `/users/${member}/credits`, { amount: 10, reason: 'test' })
    const stranger = await server.platform.organization()
    const others: Record<string, Client> = {
      'another organization': await stranger.key(),
      'another user': await organization.key({ user_id: member }),
      'another user, as user': await organization.key({ type: 'user', user_id: member }),
      'another key of the same user': await organization.key(),
    }
    for (const [who, other] of Object.entries(others)) {
      for (const refused of [
        await fork(other, 'mine', { after: first?.event_id }),
        await regenerate(other, 'mine', first?.event_id ?? ''),
        await other.ask('GET', at('mine')),
      ])
        t.match(refused, { status: 404, code: 'session_not_found' }, who)
    }
    const theirs = others['another user'] as Client
    await spoken(theirs, 'theirs')
    t.match(
      await fork(theirs, 'theirs', { session_id: 'mine' }),
      { status: 404, code: 'session_not_found' },
      'an id that another user has is not told apart from an erased one',
    )
    const own = await organization.key({ type: 'user' })
    t.equal((await fork(own, 'mine')).status, 201, 'a user key sees every session of its user')

    for (const missing of ['orchestrator:invoke', 'sessions:messages']) {
      const weak = await organization.key({ scopes: scopes.filter((scope) => scope !== missing) })
      t.match(await fork(weak, 'mine'), { status: 403, code: 'insufficient_scopes' })
      t.match(await regenerate(weak, 'mine', 'x'), { status: 403, code: 'insufficient_scopes' })
    }
  },
)

t.test('for a user whom the key acts for', async (t) => {
  const { organization } = await startChat(t, { text: 'Answer.' })
  const on_behalf_of = await organization.member()
  const key = await organization.key({ scopes })
  await key.chat({ messages: user('One'), session_id: 'theirs', on_behalf_of })
  t.match(await fork(key, 'theirs'), { status: 404 })
  const forked = await fork(key, 'theirs', { on_behalf_of })
  t.equal(forked.status, 201)
  const { session_id } = forked.body
  t.equal((await key.messages(session_id)).status, 404, 'it is the user’s')
  t.equal((await key.messages(session_id, `?on_behalf_of=${on_behalf_of}`)).status, 200)
  const weak = await organization.key({ scopes: ['orchestrator:invoke', 'sessions:messages'] })
  t.match(await fork(weak, 'theirs', { on_behalf_of }), { code: 'insufficient_scopes' })
})

t.test('a hidden session has hidden forks', async (t) => {
  const { key } = await startChat(t, { text: 'Answer.' })
  await key.chat({ messages: user('One'), session_id: 'dark', session_hidden: true })
  await fork(key, 'dark', { session_id: 'darker' })
  t.match(await key.ask('GET', at('darker')), { body: { hidden: true } })
  t.equal((await key.sessions('?include_hidden=false')).body.total, 0)
})

t.test('erasing one leaves the other', async (t) => {
  const { organization } = await startChat(t, { text: 'Answer.' })
  const key = await organization.key({ scopes })
  const member = await key.ask('POST', '/api/external/management/users', {
    email: 'guest@partner.example',
    organization_id: organization.organizationId,
  })
  const on_behalf_of = member.body.user_id
  const query = `?on_behalf_of=${on_behalf_of}`
  const erase = (session: string) =>
    key.ask('DELETE', `/api/external/management/users/${on_behalf_of}/sessions/${session}`)
  for (const source of ['a', 'b']) {
    await key.chat({ messages: user(`Of ${source}`), session_id: source, on_behalf_of })
    t.equal((await fork(key, source, { session_id: `fork-${source}`, on_behalf_of })).status, 201)
  }
  t.equal((await erase('a')).status, 200, 'the source')
  t.equal((await erase('fork-b')).status, 200, 'the fork')
  const read = async (session: string) => {
    const { status, body } = await key.messages(session, query)
    return status === 200 ? body.messages.map(({ content }: Message) => content) : status
  }
  t.strictSame(await read('a'), 404)
  t.strictSame(await read('fork-a'), ['Of a', 'Answer.'])
  t.strictSame(await read('b'), ['Of b', 'Answer.'])
  t.strictSame(await read('fork-b'), 404)
  t.match(await fork(key, 'a', { on_behalf_of }), { status: 404, code: 'session_not_found' })
  t.match(
    await fork(key, 'b', { on_behalf_of, session_id: 'fork-b' }),
    { status: 404, code: 'session_not_found' },
    'an erased id is never taken again',
  )
  t.equal((await fork(key, 'fork-a', { on_behalf_of })).status, 201, 'a fork is forked again')
  const all = await key.ask('DELETE', `/api/external/management/users/${on_behalf_of}/sessions`)
  t.match(all.body, { deleted: 3 })
  t.equal(await read('fork-a'), 404)
})

t.test('with an idempotency key it is made once, also across a restart', async (t) => {
  const { key, server } = await startChat(t, { text: 'Answer.' })
  await spoken(key, 'source')
  const headers = { 'idempotency-key': 'fork-1' }
  const first = await fork(key, 'source', {}, headers)
  const second = await fork(key, 'source', {}, headers)
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  t.strictSame(second.body, first.body)
  await server.restart()
  const later = server.as(key.key)
  t.strictSame((await fork(later, 'source', {}, headers)).body, first.body)
  t.equal((await later.sessions()).body.total, 2)
  t.match(await fork(later, 'source', { session_id: 'x' }, headers), {
    status: 409,
    code: 'idempotency_key_reused',
  })
})

t.test('while a turn runs: what is recorded up to then', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Answer.' })
  await key.chat({ messages: user('One'), session_id: 'running' })
  const turn = held()
  provider.next(turn.reply)
  const stream = await key.stream({ messages: user('Two'), session_id: 'running' })
  await stream.until(isToken)
  t.equal((await fork(key, 'running', { session_id: 'amid' })).status, 201)
  t.strictSame(await contents(key, 'amid'), ['One', 'Answer.', 'Two'])
  t.match((await key.status('amid')).body, { is_processing: false })
  turn.go()
  await stream.all()
  t.strictSame(await contents(key, 'amid'), ['One', 'Answer.', 'Two'], 'and no more of it')
  t.equal((await key.chat({ messages: user('Three'), session_id: 'amid' })).status, 200)
})

t.test('calls that wait for the client are not open in a fork', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Answer.' })
  const call = { name: 'get_weather', arguments: { city: 'Paris' } }
  provider.next({ calls: [call] })
  const tools = [{ type: 'function', function: { name: 'get_weather' } }]
  const reply = await key.chat({ messages: user('Weather?'), session_id: 'calls', tools })
  const [{ id: tool_call_id }] = reply.body.choices[0].message.tool_calls
  await fork(key, 'calls', { session_id: 'forked' })
  t.match(await messagesOf(key, 'forked'), [
    { content: 'Weather?' },
    { event_type: 'assistant_message', tool_calls: [{ function: { name: 'get_weather' } }] },
  ])
  const messages = [{ role: 'tool', tool_call_id, content: '18' }]
  t.match(await key.chat({ messages, session_id: 'forked', tools }), {
    status: 400,
    code: 'invalid_tool_result',
  })
  t.equal((await key.chat({ messages, session_id: 'calls', tools })).status, 200)
  await fork(key, 'calls', { session_id: 'answered' })
  t.match((await messagesOf(key, 'answered'))[2], { event_type: 'tool_message', tool_call_id })
  t.equal((await key.chat({ messages: user('Next'), session_id: 'forked' })).status, 200)
})

t.test('POST …/messages/{event_id}/regenerate: the turn once more, in a fork', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Answer.' })
  const messages = await spoken(key, 'source')
  const calls = provider.requests.length
  for (const [n, { event_id }] of messages.slice(2).entries()) {
    provider.next({ text: `Better ${n}.` })
    const { status, body } = await regenerate(key, 'source', event_id)
    t.equal(status, 200)
    t.match(body, {
      object: 'chat.completion',
      choices: [{ message: { content: `Better ${n}.` } }],
    })
    const expected = ['One', 'Answer.', 'Two', `Better ${n}.`]
    t.strictSame(await contents(key, body.session_id), expected)
    t.match(await key.ask('GET', at(body.session_id)), {
      body: { forked_from: 'source', forked_after: messages[1]?.event_id },
    })
    t.equal(provider.requests.length, calls + n + 1, 'one call: none for what came before')
  }
  const first = await regenerate(key, 'source', messages[1]?.event_id ?? '', { session_id: 'anew' })
  t.match(first, { status: 200, body: { session_id: 'anew' } })
  t.strictSame(await contents(key, 'anew'), ['One', 'Answer.'], 'the first turn has none before')
  t.match(await key.ask('GET', at('anew')), { body: { forked_after: null } })
  const source = ['One', 'Answer.', 'Two', 'Answer.']
  t.strictSame(await contents(key, 'source'), source, 'the source is as it was')

  const streamed = await key.open(
    'POST',
    at('source', `/messages/${messages[3]?.event_id}/regenerate`),
    {
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.3,
    },
  )
  const frames = await streamed.all()
  t.equal(textOf(frames.slice(0, -1)), 'Answer.')
  t.equal(frames.at(-1)?.data, '[DONE]')
  t.ok(frames.some(({ data }) => data.usage))
  t.equal(provider.requests.at(-1)?.body.temperature, 0.3)
  t.match(await regenerate(key, 'source', 'unknown'), { status: 404, code: 'message_not_found' })
  t.match(await regenerate(key, 'none', 'unknown'), { status: 404, code: 'session_not_found' })
  t.match(await regenerate(key, 'source', messages[0]?.event_id ?? '', { n: 2 }), {
    status: 400,
    code: 'unsupported_parameter',
  })
})

t.test('regenerate asks the agent that the turn was given to', async (t) => {
  const { key, organization, provider } = await startChat(t, { text: 'Answer.' })
  const agent = await organization.agent({ name: 'Poet', instruction: 'Speak in verse.' })
  const completion = await key.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: 'Spring?',
    session_id: 'poem',
  })
  t.equal(completion.status, 200)
  const [, answer] = await messagesOf(key, 'poem')
  const again = await regenerate(key, 'poem', answer?.event_id ?? '')
  t.equal(again.status, 200)
  t.match(provider.requests.at(-1)?.body.messages[0], { content: /Speak in verse/ })
  const [, , other] = [
    again,
    await fork(key, 'poem', { session_id: 'copy' }),
    (await messagesOf(key, 'copy'))[1],
  ]
  await regenerate(key, 'copy', other?.event_id ?? '')
  t.match(
    provider.requests.at(-1)?.body.messages[0],
    { content: /Speak in verse/ },
    'in a fork too',
  )
})

t.test('regenerate asks as the first request did, but for what it sets', async (t) => {
  const { key, organization, provider } = await startChat(t, { text: 'Answer.' })
  const agent = await organization.agent({ name: 'Poet', instruction: 'Speak in verse.' })
  const tools = [{ type: 'function', function: { name: 'get_weather' } }]
  await key.chat({
    messages: [{ role: 'system', content: 'It is spring.' }, ...user('Hi')],
    session_id: 'asked',
    target_agent_id: agent,
    temperature: 0.7,
    seed: 4,
    tools,
  })
  const [, answer] = await messagesOf(key, 'asked')
  const id = answer?.event_id ?? ''
  const first = provider.requests.at(-1)?.body
  t.match(JSON.stringify(first?.messages), /Speak in verse.*It is spring/)
  t.equal((await regenerate(key, 'asked', id)).status, 200)
  t.strictSame(provider.requests.at(-1)?.body, first, 'the same request')
  await regenerate(key, 'asked', id, { temperature: 0.1, tools: [], model: 'svc-orchestrator' })
  const other = provider.requests.at(-1)?.body
  t.match(other, { temperature: 0.1, seed: 4 })
  t.notMatch(JSON.stringify(other?.messages), /Speak in verse/)
  t.notMatch(JSON.stringify(other?.tools ?? []), /get_weather/)
  await regenerate(key, 'asked', id, { tool_choice: 'none' })
  t.notOk('tools' in (provider.requests.at(-1)?.body ?? {}), 'no tools are offered')
  const copy = await fork(key, 'asked')
  const [, copied] = await messagesOf(key, copy.body.session_id)
  await regenerate(key, copy.body.session_id, copied?.event_id ?? '')
  t.strictSame(provider.requests.at(-1)?.body, first, 'of a message of a fork, too')
})

t.test('a regenerate that is repeated runs once', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Answer.' })
  const [first] = await spoken(key, 'source')
  const id = first?.event_id ?? ''
  const calls = provider.requests.length
  const headers = { 'idempotency-key': 'again-1' }
  const original = await regenerate(key, 'source', id, {}, headers)
  const repeat = await regenerate(key, 'source', id, {}, headers)
  t.strictSame(repeat.body, original.body)
  const stock = { 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0' }
  const three = await regenerate(key, 'source', id, {}, stock)
  const retry = { ...stock, 'x-stainless-retry-count': '1' }
  const four = await regenerate(key, 'source', id, {}, retry)
  t.not(four.body.session_id, three.body.session_id, 'an answer that was delivered')
  t.equal(provider.requests.length, calls + 3)
  t.equal((await key.sessions()).body.total, 4, 'one fork each')
})

t.test('regenerate is refused before a fork is made', async (t) => {
  const { key, server, organization } = await startChat(t, { text: 'Answer.' })
  const [first] = await spoken(key, 'source')
  const id = first?.event_id ?? ''
  t.match(await regenerate(key, 'source', id, { target_agent_id: crypto.randomUUID() }), {
    status: 404,
    code: 'agent_not_found',
  })
  await server.platform.ask('PUT', `/users/${organization.ownerId}/subscription`, { plan: null })
  t.match(await regenerate(key, 'source', id), { status: 403, code: 'no_subscription' })
  t.equal((await key.sessions()).body.total, 1)
})
