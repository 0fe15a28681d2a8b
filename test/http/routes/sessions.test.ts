import t from 'tap'
import { type Client, isToken, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { held } from '../../support/held.ts'
import { movableClock, startChat } from '../../support/server.ts'

const messages = user('Hi')

t.test('GET /api/external/sessions: the list', async (t) => {
  const clock = movableClock()
  const { key } = await startChat(t, undefined, { clock })
  for (const session_id of ['a', 'b', 'c']) {
    await key.chat({ messages, session_id })
    clock.advance(1_000)
  }
  await key.chat({ messages, session_id: 'a' })
  const { status, body } = await key.sessions()
  t.equal(status, 200)
  t.match(body, { total: 3, page: 1, page_size: 20, has_next: false })
  const ids = (list: { sessions: { session_id: string }[] }) =>
    list.sessions.map(({ session_id }) => session_id)
  t.strictSame(ids(body), ['a', 'c', 'b'], 'most recent first')
  const [first] = body.sessions
  t.strictSame(Object.keys(first), [
    'session_id',
    'created_at',
    'last_update_time',
    'is_active',
    'message_count',
  ])
  t.match(first, { is_active: true, message_count: 4, created_at: /^\d{4}-.*Z$/ })
  t.ok(first.last_update_time > first.created_at)
  const page = await key.sessions('?page=2&page_size=2')
  t.match(page.body, { total: 3, page: 2, page_size: 2, has_next: false })
  t.strictSame(ids(page.body), ['b'])
  t.equal((await key.sessions('?page=1&page_size=2')).body.has_next, true)
  for (const beyond of [9, Number.MAX_SAFE_INTEGER]) {
    const { body } = await key.sessions(`?page=${beyond}`)
    t.match(body, { sessions: [], total: 3, has_next: false })
  }
  for (const query of ['?page_size=101', '?page_size=0', '?page_size=x']) {
    const refused = await key.sessions(query)
    t.equal(refused.status, 400)
    t.type(refused.body.detail.page_size[0], 'string', 'the documented shape')
  }
  t.equal((await key.sessions('?page=0')).status, 400)
  t.equal((await key.sessions('?include_hidden=maybe')).status, 400)
})

t.test('the list tells which session has a turn under way', async (t) => {
  const { key, provider } = await startChat(t)
  const first = held()
  provider.next(first.reply)
  const stream = await key.stream({ messages, session_id: 'busy' })
  await stream.until(isToken)
  const path = '/api/external/sessions/busy'
  t.match((await key.sessions()).body, { sessions: [{ session_id: 'busy', state: 'running' }] })
  t.match(await key.ask('GET', path), { body: { state: 'running' } })
  first.go()
  await stream.all()
  t.notOk('state' in (await key.sessions()).body.sessions[0])
  t.notOk('state' in (await key.ask('GET', path)).body)
})

t.test('GET /api/external/sessions/{session_id}/messages: the messages', async (t) => {
  const { key } = await startChat(t, { text: 'Answer.' })
  const session_id = 'm'
  for (const content of ['One', 'Two']) await key.chat({ messages: user(content), session_id })
  const { body } = await key.messages(session_id)
  t.match(body, { session_id, total: 4, page: 1, page_size: 50, has_next: false })
  t.strictSame(Object.keys(body.messages[0]), [
    'event_id',
    'event_type',
    'content',
    'agent',
    'created_at',
    'visibility',
  ])
  t.match(body.messages, [
    { event_type: 'user_message', content: 'One', agent: null, visibility: 'visible' },
    { event_type: 'assistant_message', content: 'Answer.', agent: 'Orchestrator' },
    { event_type: 'user_message', content: 'Two' },
    { event_type: 'assistant_message', content: 'Answer.' },
  ])
  t.equal(new Set(body.messages.map(({ event_id }: { event_id: string }) => event_id)).size, 4)
  const page = await key.messages(session_id, '?page=2&page_size=3')
  t.match(page.body, { total: 4, page: 2, page_size: 3, has_next: false })
  t.match(page.body.messages, [{ content: 'Answer.' }])
  t.equal((await key.messages(session_id, '?page_size=201')).status, 400)
  t.equal((await key.messages(session_id, '?page_size=200')).status, 200)
})

t.test('GET /api/external/sessions/{session_id}/status: while it runs', async (t) => {
  const { key, provider } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const session_id = 's'
  const stream = await key.stream({ messages, session_id })
  await stream.until(isToken)
  const { body } = await key.status(session_id)
  t.match(body, {
    session_id,
    is_processing: true,
    started_at: /^\d{4}-.*Z$/,
    current_agent: 'Orchestrator',
    elapsed_seconds: Number,
  })
  t.notOk('timed_out' in body || 'message' in body)
  turn.go()
  await stream.all()
  t.strictSame((await key.status(session_id)).body, { session_id, is_processing: false })
})

t.test(
  'limit session processing time-out: not processing, timed_out, and the session goes on',
  async (t) => {
    const clock = movableClock()
    const { key, provider, server, organization } = await startChat(t, { text: 'Next.' }, { clock })
    const turn = held()
    provider.next(turn.reply)
    const session_id = 'long'
    const stream = await key.stream({ messages, session_id })
    await stream.until(isToken)
    clock.advance(29 * 60_000)
    await server.tick()
    t.equal((await key.status(session_id)).body.is_processing, true)
    clock.advance(60_000)
    const expected = {
      session_id,
      is_processing: false,
      timed_out: true,
      message: /cancelled automatically/,
    }
    t.match((await key.status(session_id)).body, expected, 'as soon as they have passed')
    await server.tick()
    const items = await stream.all()
    t.match(items.at(-2)?.data, { error: { code: 'llm_service_timeout' } })
    t.match((await key.status(session_id)).body, expected)
    await provider.requests[0]?.aborted
    const { balance, effective } = await organization.balance()
    t.strictSame([balance, effective], [100, 100])
    t.equal((await key.chat({ messages, session_id })).status, 200)
    t.strictSame((await key.status(session_id)).body, { session_id, is_processing: false })
  },
)

t.test('a session that is not yours is a session that does not exist', async (t) => {
  const { key, server, organization, provider } = await startChat(t)
  const session_id = 'mine'
  await key.chat({ messages, session_id })
  const member = await organization.member()
  await server.platform.ask('PUT', `/users/${member}/subscription`, { plan: 'pro_monthly' })
  const stranger = await server.platform.organization()
  const others: Record<string, Client> = {
    'another organization': await stranger.key(),
    'another organization, as user': await stranger.key({ type: 'user' }),
    'another user': await organization.key({ user_id: member }),
    'another user, as user': await organization.key({ type: 'user', user_id: member }),
    'another key of the same user': await organization.key(),
  }
  const missing = {
    status: 404,
    code: 'session_not_found',
    body: { detail: 'Session not found or access denied' },
  }
  for (const [who, other] of Object.entries(others)) {
    t.match(await other.messages(session_id), missing, `messages: ${who}`)
    t.match(await other.status(session_id), missing, `status: ${who}`)
    t.match(await other.cancel(session_id), missing, `cancel: ${who}`)
    const stream = await other.attach(session_id)
    t.match([stream.status, await stream.reply.json()], [404, missing.body], `stream: ${who}`)
    t.equal((await other.sessions()).body.total, 0, `list: ${who}`)
    if (who.startsWith('another organization')) continue
    const reply = await other.chat({ messages, session_id, session_hidden: true })
    t.match(reply, missing, `chat: ${who}`)
    t.match(reply.body.error, { code: 'session_not_found' })
  }
  t.equal(provider.requests.length, 1)
  const owner = await organization.key({ type: 'user' })
  t.equal((await owner.messages(session_id)).status, 200, 'a user key sees all of its user')
  t.equal((await owner.sessions()).body.total, 1)
  t.equal((await key.sessions('?include_hidden=false')).body.total, 1, 'and nothing was hidden')
})

t.test('session ids of two organizations do not meet', async (t) => {
  const { key, server } = await startChat(t)
  const other = await (await server.platform.organization()).key()
  const session_id = 'same'
  await key.chat({ messages: user('Mine'), session_id })
  await other.chat({ messages: user('Theirs'), session_id })
  t.equal((await key.messages(session_id)).body.messages[0].content, 'Mine')
  t.equal((await other.messages(session_id)).body.messages[0].content, 'Theirs')
})

t.test('messages that a delegate reads are recorded with their user', async (t) => {
  const { organization, server } = await startChat(t, { text: 'Yes.' })
  const key = await organization.key({
    scopes: ['orchestrator:invoke', 'sessions:read', 'sessions:messages', 'users:delegate'],
  })
  const ann = await organization.member()
  const { body } = await key.ask('POST', '/api/external/v1/responses', {
    input: 'My secret',
    conversation: 's',
    on_behalf_of: ann,
  })
  const own = await key.chat({ messages: user('Hi'), session_id: 'own' })
  t.equal(own.status, 200)
  const of = `on_behalf_of=${ann}`
  const messages = `/api/external/sessions/s/messages`
  const { body: listed } = await key.ask('GET', `${messages}?${of}`)
  await key.ask('GET', `${messages}?${of}`)
  await key.ask('GET', `${messages}/${listed.messages[0].event_id}?${of}`)
  await key.ask('GET', `/api/external/v1/responses/${body.id}?${of}`)
  await key.ask('GET', `/api/external/v1/responses/${body.id}/input_items?${of}`)
  await (await key.attach('s', {}, `?${of}`)).all()
  await key.ask('GET', '/api/external/sessions/own/messages')
  t.equal((await key.ask('GET', `/api/external/sessions/none/messages?${of}`)).status, 404)
  const path = `/organizations/${organization.organizationId}/audit/events?type=MessagesRead`
  const reads = await eventually(async () => {
    const { events } = await server.platform.ask('GET', path)
    return events.length >= 5 ? events : undefined
  })
  const session = '/api/external/sessions/:session_id'
  const response = '/api/external/v1/responses/:response_id'
  t.strictSame(
    reads.map(({ data }: { data: { route: string } }) => data.route),
    [
      `${session}/messages`,
      `${session}/messages/:event_id`,
      response,
      `${response}/input_items`,
      `${session}/stream`,
    ],
  )
  for (const { metadata } of reads)
    t.match(metadata, { actor: { user_id: organization.ownerId }, on_behalf_of: ann })
})
