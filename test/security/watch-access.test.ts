import t, { type Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { type Client, client, contents, isToken, textOf, user } from '../support/client.ts'
import { consumer } from '../support/consumer.ts'
import { held } from '../support/held.ts'
import { movableClock, startChat } from '../support/server.ts'
import { connect } from '../support/socket.ts'

const session_id = 'theirs'

/** An admin's keys, and every way in which they end. */
const scene = async (t: Test) => {
  const clock = movableClock()
  const all = await startChat(t, { text: 'one two three' }, { clock })
  const { server, organization, provider } = all
  const { platform } = server
  const at = `/organizations/${organization.organizationId}`
  const ann = await organization.member()
  const role = (role: string) => platform.ask('PATCH', `${at}/members/${ann}`, { role })
  await role('ADMIN')
  await platform.ask('PUT', `/users/${ann}/subscription`, { plan: 'pro_monthly' })
  await platform.ask('POST', `/users/${ann}/credits`, { amount: 10, reason: 'test' })
  const createKey = async (more: object) => {
    const settings = { name: 'Watched', scopes, user_id: ann, rate_limit_minute: 1_000, ...more }
    const { key, key_id } = await platform.ask('POST', `${at}/api-keys`, settings)
    const inside = { 'x-organization-id': organization.organizationId }
    return { ...client(server.url, key, inside), headers: { 'x-api-key': key, ...inside }, key_id }
  }
  const soon = () => new Date(clock.now().getTime() + 60_000).toISOString()
  return {
    ...all,
    at,
    ann,
    made: createKey,
    role,
    /** A stream whose turn stands still until it is told to go. */
    async running(key: Client, more: object = {}) {
      const answer = held()
      provider.next(answer.reply)
      const stream = await key.stream({ messages: user('Hi'), session_id, ...more })
      await stream.until(isToken)
      return { stream, answer }
    },
    /** By how it ends: the settings of the key, the end, and what is told. */
    ends: {
      revoked: {
        settings: {},
        end: (id: string) => platform.ask('DELETE', `${at}/api-keys/${id}`),
        code: 'invalid_api_key',
      },
      expired: {
        settings: { expires_at: soon() },
        end: async () => clock.advance(61_000),
        code: 'invalid_api_key',
      },
      removed: {
        settings: {},
        end: () => platform.ask('DELETE', `${at}/members/${ann}`),
        code: 'invalid_api_key',
      },
      'removed, with a user key': {
        settings: { type: 'user' },
        end: () => platform.ask('DELETE', `${at}/members/${ann}`),
        code: 'organization_access_denied',
      },
    },
  }
}

const ways = ['revoked', 'expired', 'removed', 'removed, with a user key'] as const

for (const way of ways)
  t.test(`a stream ends when its key has: ${way}`, async (t) => {
    const all = await scene(t)
    const { settings, end, code } = all.ends[way]
    const key = await all.made(settings)
    const reader = await all.made({ type: 'user', name: 'Reader' })
    const { stream, answer } = await all.running(key)
    await end(key.key_id)
    const rest = await stream.all()
    t.match(
      rest.slice(-2).map(({ data }) => data),
      [{ error: { code, message: String, type: String } }, '[DONE]'],
    )
    answer.go()
    if (way === 'revoked' || way === 'expired') {
      const from = { headers: { 'last-event-id': rest.at(-1)?.id ?? '' } }
      const again = await (await reader.attach(session_id, from)).all()
      t.equal(again.at(-1)?.data, '[DONE]')
      t.equal(`one ${textOf([...rest, ...again])}`, answer.text, 'nothing is lost, nothing twice')
      t.strictSame(await contents(reader, session_id), ['Hi', answer.text], 'the run is recorded')
    }
  })

for (const way of ways)
  t.test(`an idle socket ends when its key has: ${way}`, async (t) => {
    const all = await scene(t)
    const { settings, end, code } = all.ends[way]
    const key = await all.made(settings)
    const socket = await connect(all.server.url, key.headers)
    await socket.next()
    const later = await connect(all.server.url)
    const organization_id = all.organization.organizationId
    later.send({ type: 'auth', api_key: key.key, organization_id })
    await later.next()
    const bystander = await connect(all.server.url, { 'x-api-key': all.key.key })
    await bystander.next()
    await end(key.key_id)
    for (const connection of [socket, later]) {
      t.match(await connection.next(), { type: 'error', error: { code } })
      t.equal((await connection.closed).code, 4401)
    }
    bystander.send({ type: 'ping' })
    t.match(await bystander.next(), { type: 'pong' }, 'others stay')
    bystander.close()
  })

t.test('a demotion ends what needed the role', async (t) => {
  const all = await scene(t)
  const on_behalf_of = await all.organization.member()
  const key = await all.made({})
  const delegated = await all.running(key, { on_behalf_of })
  const own = await all.running(key, { session_id: 'own' })
  const followed = await key.attach(session_id, undefined, `?on_behalf_of=${on_behalf_of}`)
  const feed = consumer(all.server.url, key.key)
  await feed.connect(`/api/admin${all.at}/feeds/agents`)
  const socket = await connect(all.server.url, key.headers)
  await socket.next()
  await all.role('MEMBER')
  for (const { frames } of [delegated.stream, followed]) {
    const rest = []
    for await (const { data } of frames) rest.push(data)
    t.match(rest.slice(-2), [{ error: { code: 'insufficient_scopes' } }, '[DONE]'])
  }
  await feed.ended
  t.match(await socket.next(), { type: 'error', error: { code: 'insufficient_scopes' } })
  t.equal((await socket.closed).code, 4403)
  for (const { answer } of [delegated, own]) answer.go()
  t.equal((await own.stream.all()).at(-1)?.data, '[DONE]')
  t.strictSame(await contents(key, 'own'), ['Hi', own.answer.text], 'a member chats on')
})

t.test('a key that goes on being used is left alone', async (t) => {
  const all = await scene(t)
  const key = await all.made({})
  const socket = await connect(all.server.url, key.headers)
  await socket.next()
  const path = `/api/admin${all.at}/api-keys/${key.key_id}`
  const owner = all.server.as((await all.organization.key({ type: 'user', scopes })).key)
  await owner.ask('PATCH', path, { name: 'Renamed', rate_limit_minute: 7 })
  await owner.ask('PATCH', path, { scopes: ['orchestrator:invoke', 'orchestrator:stream'] })
  t.match(await socket.next(), { error: { code: 'insufficient_scopes' } })
  t.equal((await socket.closed).code, 4403, 'a key that loses scopes ends its sockets')
  const again = await connect(all.server.url, key.headers)
  await again.next()
  await owner.ask('PATCH', path, { name: 'Renamed again' })
  await owner.ask('PATCH', path, {
    scopes: ['orchestrator:invoke', 'orchestrator:stream', 'rag:read'],
  })
  again.send({ type: 'message', content: 'Hi' })
  await again.until('stream_complete')
  again.close()
})
