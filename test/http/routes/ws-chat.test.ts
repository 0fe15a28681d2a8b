import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import { held } from '../../support/held.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startChat } from '../../support/server.ts'
import { connect, type Sent, textIn } from '../../support/socket.ts'

const text = 'Hello from the double.'
const usage = { prompt_tokens: 7, completion_tokens: 5 }
const hi = { type: 'message', content: 'Hi' }

const typesOf = (frames: readonly Sent[]) => [...new Set(frames.map(({ type }) => type))]
const withKey = ({ key }: { key: string }) => ({ 'x-api-key': key })

t.test('a message is answered token by token', async (t) => {
  const { server, key, organization } = await startChat(t, { text, usage })
  const socket = await connect(server.url, withKey(key))
  t.strictSame(await socket.next(), {
    type: 'authenticated',
    organization_id: organization.organizationId,
  })
  socket.send(hi)
  const frames = await socket.until('stream_complete')
  t.strictSame(typesOf(frames), [
    'agent_started',
    'stream_token',
    'agent_completed',
    'stream_complete',
  ])
  t.equal(textIn(frames), text)
  t.match(frames[0], { agent: 'Orchestrator', agent_type: 'LLM_AGENT', depth: 0 })
  t.match(frames.at(-2), { agent: 'Orchestrator', duration_ms: Number })
  const { session_id } = frames[0] as Sent
  t.ok(frames.every((frame) => frame.session_id === session_id && !('id' in frame)))
  t.match(frames.at(-1), {
    content: text,
    finish_reason: 'stop',
    usage: { ...usage, total_tokens: 12 },
  })
  for (const frame of frames) t.equal(Object.keys(frame)[0], 'type')
  const { body } = await key.messages(session_id)
  t.equal(body.messages[1].content, text, 'what was answered can be read back')
  t.strictSame(await organization.balance(), { balance: 99.999932, effective: 99.999932 })

  socket.send({ ...hi, content: 'More', session_id, id: 'second' })
  const more = await socket.until('stream_complete')
  t.ok(more.every((frame) => frame.id === 'second' && frame.session_id === session_id))
  t.equal((await key.messages(session_id)).body.total, 4, 'the session goes on')
  socket.close()
  t.equal((await socket.closed).code, 1005)
})

t.test('sockets by the dozen are opened at once, and each is read', async (t) => {
  const { server, key } = await startChat(t)
  const sockets = await Promise.all(
    Array.from({ length: 60 }, () => connect(server.url, withKey(key))),
  )
  for (const socket of sockets) {
    t.equal((await socket.next()).type, 'authenticated')
    socket.send('{}')
    t.equal((await socket.next()).type, 'error')
    socket.close()
  }
})

t.test('the key in a header: Bearer too; a refused one is plain HTTP', async (t) => {
  const { server, key } = await startChat(t)
  const bearer = await connect(server.url, { authorization: `Bearer ${key.key}` })
  t.equal((await bearer.next()).type, 'authenticated')
  const refused = await t.rejects(connect(server.url, { 'x-api-key': 'nobody' }))
  t.match(refused, { message: 'Unexpected server response: 401' })
  bearer.close()
})

t.test('the key in a first message', async (t) => {
  const { server, key, organization } = await startChat(t, { text })
  const socket = await connect(server.url)
  socket.send({ ...hi, id: 0 })
  t.match(await socket.next(), {
    type: 'error',
    id: 0,
    error: { type: 'authentication_error', code: 'missing_api_key' },
  })
  socket.send({ type: 'auth', api_key: key.key, id: 1 })
  t.strictSame(await socket.next(), {
    type: 'authenticated',
    organization_id: organization.organizationId,
    id: 1,
  })
  socket.send(hi)
  t.equal(textIn(await socket.until('stream_complete')), text)
  const next = await organization.key()
  socket.send({ type: 'auth', api_key: next.key })
  t.equal((await socket.next()).type, 'authenticated', 'another key may follow')
  socket.close()
})

t.test('a key that is not valid ends the socket with 4401', async (t) => {
  const { server, key } = await startChat(t)
  const other = await server.platform.organization()
  const elsewhere = { api_key: key.key, organization_id: other.organizationId }
  for (const [credentials, code] of [
    [{ api_key: 'nobody' }, 'invalid_api_key'],
    [elsewhere, 'organization_access_denied'],
  ] as const) {
    const socket = await connect(server.url)
    socket.send({ type: 'auth', ...credentials })
    t.match(await socket.next(), { type: 'error', error: { code } })
    t.equal((await socket.closed).code, 4401)
  }
})

t.test('a client that does not authenticate in time gets an error and 4401', async (t) => {
  const { server } = await startChat(t, { text }, { socketTimes: { auth: 20 } })
  const socket = await connect(server.url)
  t.match(await socket.next(), { type: 'error', error: { code: 'missing_api_key' } })
  t.equal((await socket.closed).code, 4401)
})

t.test('a user key works in the organization it names', async (t) => {
  const { server, organization } = await startChat(t)
  const person = await organization.key({ type: 'user' })
  const socket = await connect(server.url)
  const { organizationId: organization_id } = organization
  socket.send({ type: 'auth', api_key: person.key, organization_id })
  t.match(await socket.next(), { type: 'authenticated', organization_id })
  socket.close()
})

t.test('an invalid frame gets an error frame, and the socket stays open', async (t) => {
  const { server, key } = await startChat(t, { text })
  const socket = await connect(server.url, withKey(key))
  await socket.next()
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const wrong: [unknown, string, string | undefined][] = [
    ['{"type":', 'invalid_json', undefined],
    ['', 'invalid_json', undefined],
    [deep, 'too_complex', undefined],
    ['{"type":"ping","id":"\\ud800"}', 'invalid_json', undefined],
    [{ ...hi, metadata: { $sealed: 'a', box: 'b' } }, 'reserved_name', undefined],
    ['{"type":"ping","\\u0024sealed":1}', 'reserved_name', undefined],
    [{ ...hi, content: 'a'.repeat(1024 * 1024 + 1) }, 'payload_too_large', undefined],
    ['null', 'invalid_input', 'body'],
    ['"message"', 'invalid_input', 'body'],
    [{}, 'missing_required_field', 'type'],
    [{ type: 'shout' }, 'invalid_input', 'type'],
    [{ type: 'constructor' }, 'invalid_input', 'type'],
    [{ type: 'message' }, 'missing_required_field', 'content'],
    [{ type: 'message', content: 5 }, 'invalid_input', 'content'],
    [{ ...hi, session_id: 'not so' }, 'invalid_input', 'session_id'],
    [{ ...hi, target_agent_id: 'x' }, 'invalid_input', 'target_agent_id'],
    [{ ...hi, session_hidden: 'yes' }, 'invalid_input', 'session_hidden'],
    [{ type: 'auth' }, 'missing_required_field', 'api_key'],
    [{ type: 'cancel', session_id: 7 }, 'invalid_input', 'session_id'],
  ]
  for (const [frame, code, param] of wrong) {
    socket.send(frame)
    const { error, type } = await socket.next()
    t.strictSame([type, error.code, error.param], ['error', code, param])
  }
  socket.ws.send(Buffer.from(JSON.stringify(hi)), { binary: true })
  t.match(await socket.next(), { error: { code: 'invalid_input', message: /text/ } })
  socket.send({ type: 'message', content: 5, id: 'mine', session_id: 's' })
  t.match(await socket.next(), { type: 'error', id: 'mine', session_id: 's' })
  socket.send(`{"__proto__":{"type":"ping"},"type":"ping","deep":[[{}]],"id":7}`)
  t.strictSame(await socket.next(), { type: 'pong', id: 7 }, 'unknown fields are tolerated')
  socket.send({ type: 'ping', id: {} })
  t.strictSame(await socket.next(), { type: 'pong' })
  socket.send(hi)
  t.equal(textIn(await socket.until('stream_complete')), text)
  socket.close()
})

t.test('invalid UTF-8 and frames above 14 MiB close the socket', async (t) => {
  const { server, key } = await startChat(t)
  const garbled = await connect(server.url, withKey(key))
  garbled.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
  t.equal((await garbled.closed).code, 1007)
  const large = await connect(server.url, withKey(key))
  large.send({ ...hi, content: 'x'.repeat(14 * 1024 * 1024) })
  t.equal((await large.closed).code, 1009)
  const socket = await connect(server.url, withKey(key))
  await socket.next()
  socket.send({ ...hi, content: randomBytes(1_500_000).toString('base64') })
  t.match(await socket.until('error'), [{ error: { code: 'payload_too_large' } }])
  socket.close()
})

t.test('a frame of a client without a key is small', async (t) => {
  const { server, key } = await startChat(t, { text })
  const stranger = await connect(server.url)
  let sent = 0
  const { _socket: raw } = stranger.ws as unknown as { _socket: Socket }
  // A frame that claims 14 MB, in pieces, as fast as they are taken.
  raw.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0xe0, 0, 0, 0, 0, 0, 0]))
  while (!raw.destroyed && sent < 100) {
    sent++
    if (!raw.write(Buffer.alloc(65_536)))
      await Promise.race([once(raw, 'drain'), once(raw, 'close')])
    await new Promise((resolve) => setImmediate(resolve))
    if (stranger.ws.readyState !== stranger.ws.OPEN) break
  }
  t.equal((await stranger.closed).code, 1009)
  const small = await connect(server.url)
  small.send({ type: 'ping', padding: 'x'.repeat(15_000) })
  t.match(await small.next(), { type: 'pong' })
  small.send({ type: 'auth', api_key: key.key })
  small.send({ type: 'ping', padding: 'x'.repeat(1_000_000) })
  t.match(await small.next(), { type: 'authenticated' })
  t.match(await small.next(), { type: 'pong' })
  small.send({ type: 'ping', padding: 'x'.repeat(10_000_000) })
  t.match(await small.next(), { type: 'pong' })
  small.close()
})

t.test('several messages in flight are told apart', async (t) => {
  const { server, key, provider } = await startChat(t, { text })
  const first = held()
  provider.next(first.reply)
  const socket = await connect(server.url, withKey(key))
  socket.send({ ...hi, session_id: 'one', id: 1 })
  await socket.until('stream_token')
  socket.send({ ...hi, session_id: 'two', id: 2 })
  const second = await socket.until('stream_complete', ({ id }) => id === 2)
  t.equal(textIn(second.filter(({ session_id }) => session_id === 'two')), text)
  first.go()
  const rest = await socket.until('stream_complete')
  t.match(rest.at(-1), { id: 1, session_id: 'one', content: first.text })
  socket.close()
})

t.test('two sockets and HTTP share one line per session', async (t) => {
  const { server, key, provider } = await startChat(t, { text })
  const first = held()
  provider.next(first.reply)
  const session_id = 'shared'
  const sender = await connect(server.url, withKey(key))
  const receiver = await connect(server.url, withKey(key))
  await receiver.next()
  sender.send({ ...hi, content: 'One', session_id })
  await sender.until('stream_token')
  receiver.send({ ...hi, content: 'Two', session_id })
  receiver.send({ type: 'ping' })
  t.equal((await receiver.next()).type, 'pong', 'the second is in line')
  const three = key.chat({ messages: [{ role: 'user', content: 'Three' }], session_id })
  first.go()
  t.match((await sender.until('stream_complete')).at(-1), { content: first.text })
  t.match((await receiver.until('stream_complete')).at(-1), { content: text })
  t.equal((await three).status, 200)
  const { messages } = (await key.messages(session_id)).body
  t.strictSame(
    messages.map(({ content }: { content: string }) => content),
    ['One', first.text, 'Two', text, 'Three', text],
  )
  sender.close()
  receiver.close()
})

t.test('messages of one session keep the order in which they were sent', async (t) => {
  const { server, key } = await startChat(t, { text })
  const socket = await connect(server.url, withKey(key))
  const sent = Array.from({ length: 8 }, (_, n) => `Message ${n}`)
  sent.forEach((content, id) => {
    socket.send({ ...hi, content, id, session_id: 'ordered' })
  })
  await socket.until('stream_complete', ({ id }) => id === 7)
  const { messages } = (await key.messages('ordered')).body
  t.strictSame(
    messages
      .map(({ content }: { content: string }) => content)
      .filter((content: string) => content !== text),
    sent,
  )
  socket.close()
})

t.test('cancel', async (t) => {
  const { server, key, provider } = await startChat(t, { text })
  const socket = await connect(server.url, withKey(key))
  await socket.next()
  socket.send({ type: 'cancel', id: 'none' })
  t.strictSame(await socket.next(), { type: 'cancelled', cancelled: false, id: 'none' })

  for (const named of [{}, { session_id: 'stopped' }]) {
    provider.next(held().reply)
    socket.send({ ...hi, session_id: 'stopped', id: 1 })
    await socket.until('stream_token')
    socket.send({ ...hi, session_id: 'stopped', id: 2 })
    socket.send({ type: 'cancel', ...named, id: 3 })
    const seen = await socket.until('error')
    t.match(
      seen.find(({ type }) => type === 'cancelled'),
      { cancelled: true, session_id: 'stopped', id: 3 },
    )
    t.match(seen.at(-1), { id: 1, error: { code: 'turn_cancelled' } })
    const [next] = await socket.until('error')
    t.match(next, { id: 2, error: { code: 'turn_cancelled' } }, 'the line too')
  }
  t.match((await key.status('stopped')).body, { is_processing: false })

  const other = await connect(server.url, withKey(key))
  await other.next()
  const going = held()
  provider.next(going.reply)
  socket.send({ ...hi, session_id: 'going' })
  await socket.until('stream_token')
  other.send({ type: 'cancel', session_id: 'going' })
  t.match(await other.next(), { type: 'cancelled', cancelled: false }, 'only what it began itself')
  going.go()
  t.match((await socket.until('stream_complete')).at(-1), { content: going.text })
  for (const client of [socket, other]) client.close()
})

t.test('target_agent_id: agent_routing, then that agent', async (t) => {
  const { server, key, organization } = await startChat(t, { text })
  const target_agent_id = await organization.agent({ name: 'Concierge' })
  const socket = await connect(server.url, withKey(key))
  socket.send({ ...hi, target_agent_id })
  const frames = await socket.until('stream_complete')
  t.match(
    frames.find(({ type }) => type === 'agent_routing'),
    { from: 'Orchestrator', to: 'Concierge', timestamp: String },
  )
  socket.send({ ...hi, target_agent_id: randomUUID(), session_id: 's', id: 1 })
  t.match(await socket.next(), { id: 1, session_id: 's', error: { code: 'agent_not_found' } })
  socket.close()
})

t.test('on_behalf_of and session_hidden', async (t) => {
  const { server, key, organization } = await startChat(t, { text })
  const on_behalf_of = await organization.member()
  const plain = await connect(server.url, withKey(key))
  await plain.next()
  plain.send({ ...hi, on_behalf_of })
  t.match(await plain.next(), {
    error: { code: 'insufficient_scopes', missing_scopes: ['users:delegate'] },
  })
  plain.close()
  const partner = await organization.key({ scopes })
  const socket = await connect(server.url, withKey(partner))
  await socket.next()
  socket.send({ ...hi, on_behalf_of: 'nobody' })
  t.match(await socket.next(), { error: { code: 'user_not_found' } })
  socket.send({ ...hi, on_behalf_of, session_id: 'theirs', session_hidden: true })
  await socket.until('stream_complete')
  const listed = async (query: string) =>
    (await partner.sessions(`?on_behalf_of=${on_behalf_of}${query}`)).body.total
  t.equal(await listed('&include_hidden=false'), 0)
  t.equal(await listed(''), 1)
  socket.send({ ...hi, session_id: 'theirs' })
  t.match(await socket.next(), { session_id: 'theirs', error: { code: 'session_not_found' } })
  socket.close()
})

t.test('scopes, subscription and credits as on HTTP', async (t) => {
  const { server, organization, provider } = await startChat(t, { text })
  const refusal = async ({ key }: { key: string }, frame: object = hi) => {
    const socket = await connect(server.url, { 'x-api-key': key })
    await socket.next()
    socket.send(frame)
    const { type, error } = await socket.next()
    t.equal(type, 'error')
    socket.close()
    return error
  }
  const full = await organization.key({ scopes: ['orchestrator:invoke'] })
  t.match(await refusal(full), {
    code: 'insufficient_scopes',
    required_scopes: ['orchestrator:invoke', 'orchestrator:stream'],
    missing_scopes: ['orchestrator:stream'],
    available_scopes: ['orchestrator:invoke'],
  })
  const reader = await organization.key({ scopes: ['sessions:read'] })
  t.match(await refusal(reader, { type: 'cancel' }), { code: 'insufficient_scopes' })
  t.match(await refusal(reader, { type: 'file' }), { missing_scopes: ['rag:upload'] })
  t.match(await refusal({ key: superAdminKey }), { code: 'insufficient_scopes' })

  const free = await (await server.platform.organization({ plan: null })).key()
  t.match(await refusal(free), {
    code: 'no_subscription',
    type: 'subscription_required',
    has_subscription: false,
    required_plans: ['basic_monthly', 'pro_monthly'],
  })
  const poor = await server.platform.organization({ credits: 0 })
  const debt = { amount: -1, reason: 'test' }
  await server.platform.ask('POST', `/users/${poor.ownerId}/credits`, debt)
  const broke = await poor.key()
  t.match(await refusal(broke), {
    code: 'insufficient_credits',
    credit_balance: -1,
    effective_balance: -1,
    can_use_api: false,
  })
  t.equal(provider.requests.length, 0)
})

t.test('a message counts as one request, wherever it comes in', async (t) => {
  const { server, organization } = await startChat(t, { text })
  const key = await organization.key({ rate_limit_minute: 3 })
  const socket = await connect(server.url, withKey(key))
  await socket.next()
  socket.send(hi)
  await socket.until('stream_complete')
  t.equal((await key.sessions()).headers.get('x-ratelimit-remaining-minute'), '1')
  socket.send({ type: 'ping' })
  t.equal((await socket.next()).type, 'pong')
  socket.send({ type: 'message' })
  t.match(await socket.next(), { error: { code: 'missing_required_field' } })
  socket.send({ ...hi, id: 9 })
  const { id, error } = await socket.next()
  t.equal(id, 9)
  t.match(error, {
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    limit: 3,
    window: 'minute',
    reset_at: Number,
    retry_after: Number,
  })
  t.equal((await key.sessions()).status, 429)
  socket.close()
})

t.test('a plan’s concurrency holds for messages in flight', async (t) => {
  const { server, provider } = await startChat(t, { text })
  const organization = await server.platform.organization({ plan: 'basic_monthly' })
  const key = await organization.key()
  const all = Array.from({ length: 5 }, () => held())
  provider.next(...all.map(({ reply }) => reply))
  const socket = await connect(server.url, withKey(key))
  await socket.next()
  all.forEach((_, id) => {
    socket.send({ ...hi, id })
  })
  socket.send({ ...hi, id: 5 })
  const refused = await socket.until('error')
  t.match(refused.at(-1), { id: 5, error: { code: 'rate_limit_exceeded', window: 'concurrent' } })
  for (const { go } of all) go()
  for (const _ of all) await socket.until('stream_complete')
  socket.send({ ...hi, id: 6 })
  await socket.until('stream_complete', ({ id }) => id === 6)
  socket.close()
})

t.test('a key revoked meanwhile: the next message is refused', async (t) => {
  const { server, organization } = await startChat(t, { text })
  const { platform } = server
  const key = await organization.key()
  const socket = await connect(server.url, withKey(key))
  socket.send(hi)
  await socket.until('stream_complete')
  const at = `/organizations/${organization.organizationId}/api-keys`
  const { api_keys } = await platform.ask('GET', at)
  for (const { key_id } of api_keys) await platform.ask('DELETE', `${at}/${key_id}`)
  socket.send(hi)
  t.match(await socket.next(), { type: 'error', error: { code: 'invalid_api_key' } })
  t.equal((await socket.closed).code, 4401)
})

t.test('a turn that fails ends with an error frame; the socket goes on', async (t) => {
  const { server, key, provider } = await startChat(t, { text })
  const socket = await connect(server.url, withKey(key))
  provider.next({ text, cutAfter: 3 })
  socket.send({ ...hi, id: 1 })
  const seen = await socket.until('error')
  t.match(seen.at(-1), {
    id: 1,
    session_id: String,
    error: { type: 'server_error', code: 'llm_service_unavailable' },
  })
  socket.send({ ...hi, id: 2 })
  t.equal(textIn(await socket.until('stream_complete')), text)
  socket.close()
})

t.test('keyword tools', async (t) => {
  const { server, key } = await startChat(t, { text: 'Goodbye, then.' })
  const socket = await connect(server.url, withKey(key))
  socket.send(hi)
  t.match((await socket.until('stream_complete')).at(-1), {
    finish_reason: 'tool_calls',
    tool_calls: [{ type: 'function', function: { name: 'end_call', arguments: '{}' } }],
  })
  socket.close()
})

t.test('a client that goes away does not lose its answer', async (t) => {
  const { server, key, provider } = await startChat(t)
  const going = held()
  provider.next(going.reply)
  const socket = await connect(server.url, withKey(key))
  socket.send({ ...hi, session_id: 'left' })
  await socket.until('stream_token')
  socket.ws.terminate()
  await socket.closed
  t.equal((await key.status('left')).body.is_processing, true)
  const again = await key.attach('left')
  going.go()
  t.equal((await again.all()).at(-1)?.data, '[DONE]')
  const { messages } = (await key.messages('left')).body
  t.equal(messages[1].content, going.text, 'the run is recorded')
})

t.test('a server that stops lets turns end, then closes with 1001', async (t) => {
  const { server, key, provider } = await startChat(t)
  const going = held()
  provider.next(going.reply)
  const idle = await connect(server.url, withKey(key))
  const socket = await connect(server.url, withKey(key))
  socket.send({ ...hi, session_id: 'last' })
  await socket.until('stream_token')
  const restarted = server.restart()
  t.equal((await idle.closed).code, 1001)
  socket.send({ ...hi, id: 'late' })
  t.match((await socket.until('error')).at(-1), {
    id: 'late',
    error: { code: 'service_unavailable' },
  })
  going.go()
  t.match((await socket.until('stream_complete')).at(-1), { content: going.text })
  t.equal((await socket.closed).code, 1001)
  await restarted
  t.equal((await server.as(key.key).messages('last')).body.total, 2)
})
