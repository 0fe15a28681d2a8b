import t from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { type Client, client, user } from '../support/client.ts'
import { startChat } from '../support/server.ts'
import { connect } from '../support/socket.ts'

const users = '/api/external/management/users'
const wide = { scopes, rate_limit_minute: 1_000 }

/**
 * Mallory owns her organization and is a plain member of the other one. Her user key has every
 * scope, which she gave to herself in her own.
 */
const scene = async (...[t, reply]: Parameters<typeof startChat>) => {
  const all = await startChat(t, reply)
  const { server, organization } = all
  const { platform } = server
  const home = await platform.organization()
  const mallory = home.ownerId
  const at = `/organizations/${organization.organizationId}`
  const { email } = (await platform.ask('GET', `/organizations/${home.organizationId}/members`))
    .members[0]
  await platform.ask('POST', `${at}/members`, { email })
  const accept = [{ organization_id: organization.organizationId, allow_backing: true }]
  const login = { email, provider: 'test', subject: email, accept }
  await platform.ask('POST', '/identity/logins', login)
  const { key } = await home.key({ ...wide, type: 'user' })
  const inside = { 'x-organization-id': organization.organizationId }
  return {
    ...all,
    platform,
    mallory,
    at,
    /** Her key where she is a plain member, and at home. */
    there: client(server.url, key, inside),
    here: client(server.url, key, { 'x-organization-id': home.organizationId }),
    home,
    inside,
    role: (role: string) => platform.ask('PATCH', `${at}/members/${mallory}`, { role }),
  }
}

/** What a member may not do, by the scope that she lacks. */
const beyond = (victim: string): [string, string, string, object?][] => [
  ['users:provision', 'GET', users],
  ['users:delegate', 'GET', `/api/external/sessions?on_behalf_of=${victim}`],
  ['users:delegate', 'GET', `/api/external/sessions/theirs/messages?on_behalf_of=${victim}`],
  ['users:delegate', 'GET', `/api/external/sessions/theirs/stream?on_behalf_of=${victim}`],
  ['users:delegate', 'GET', `/api/external/content?on_behalf_of=${victim}`],
  [
    'users:delegate',
    'POST',
    '/api/external/v1/chat/completions',
    { messages: user('Hi'), on_behalf_of: victim },
  ],
  ['users:delegate', 'POST', '/api/external/v1/warmup', { on_behalf_of: victim }],
  ['users:delegate', 'POST', '/api/external/sessions/theirs/cancel', { on_behalf_of: victim }],
  ['sessions:delete', 'DELETE', `${users}/${victim}/sessions`],
  ['sessions:delete', 'DELETE', `${users}/${victim}/sessions/theirs`],
  ['rag:delete', 'DELETE', '/api/external/rag/datastores/0198c0de-0000-7000-8000-000000000001'],
]

/** What only managers do, whatever the scopes. */
const managed = (victim: string, at: string): [string, string, object?][] => [
  ['GET', `${users}/${victim}/credentials`],
  ['GET', `/api/admin${at}/members`],
  ['GET', `/api/admin${at}/api-keys`],
  ['GET', `/api/admin${at}/audit/events`],
  ['GET', `/api/admin${at}/feeds/sessions`],
  ['POST', `/api/admin${at}/api-keys`, { name: 'Mine' }],
]

t.test(
  'scopes that a key has elsewhere do not count where its user is a plain member',
  async (t) => {
    const { there, here, organization, at } = await scene(t)
    const { organizationId } = organization
    const provisions = await organization.key({ scopes: ['users:provision', 'users:delegate'] })
    const body = { email: 'victim@example.com', organization_id: organizationId }
    const victim: string = (await provisions.ask('POST', users, body)).body.user_id
    const partner = await organization.key({ scopes })
    await partner.chat({ messages: user('Hi'), session_id: 'theirs', on_behalf_of: victim })
    const count = async () =>
      (await partner.messages('theirs', `?on_behalf_of=${victim}`)).body.total

    for (const [scope, method, path, body] of beyond(victim)) {
      const { status, body: answer } = await there.ask(method, path, body)
      const { error, missing_scopes, available_scopes } = answer
      t.strictSame(
        [status, error, missing_scopes],
        [403, 'insufficient_scopes', [scope]],
        `${method} ${path}`,
      )
      t.notOk(available_scopes.includes(scope), 'what is available is told as it is in force')
      t.ok(available_scopes.includes('orchestrator:invoke'))
    }
    for (const [method, path, body] of managed(victim, at))
      t.match(await there.ask(method, path, body), { status: 403, code: 'role_required' }, path)
    t.match(await there.ask('POST', users, body), { code: 'organization_access_denied' })
    t.equal(await count(), 2, 'nothing was erased')
    t.match(await here.ask('GET', users), { status: 200 }, 'at home she is the owner')
    t.match(await there.chat({ messages: user('Hi') }), { status: 200 }, 'a member chats')
  },
)

t.test('an organization key has the rights of its user’s role too', async (t) => {
  const { organization, mallory } = await scene(t)
  const key = await organization.key({
    scopes: ['users:provision', 'sessions:read'],
    user_id: mallory,
  })
  t.match(await key.ask('GET', users), {
    status: 403,
    body: { missing_scopes: ['users:provision'], available_scopes: ['sessions:read'] },
  })
  t.match(await key.sessions(), { status: 200 })
})

t.test('promotion and demotion count at the next request', async (t) => {
  const { there, role, platform, at, mallory } = await scene(t)
  const listed = async () => (await there.ask('GET', users)).status
  t.equal(await listed(), 403)
  await role('ADMIN')
  t.equal(await listed(), 200)
  const first = { headers: { 'idempotency-key': 'once' } }
  const invited = { email: 'new@example.com' }
  const invite = () => there.ask('POST', `/api/admin${at}/members`, invited, first)
  t.equal((await invite()).status, 201)
  t.match((await invite()).headers.get('idempotency-replayed'), 'true')
  await role('MEMBER')
  t.equal(await listed(), 403)
  t.match(await invite(), { status: 403 }, 'no earlier answer either')
  await platform.ask('DELETE', `${at}/members/${mallory}`)
  t.match(await there.sessions(), { status: 403, code: 'organization_access_denied' })
})

t.test('a socket has the rights of the role', async (t) => {
  const { server, there, inside, organization, role } = await scene(t)
  const on_behalf_of = await organization.member()
  const socket = await connect(server.url, { 'x-api-key': there.key, ...inside })
  await socket.next()
  const message = { type: 'message', content: 'Hi', on_behalf_of }
  socket.send(message)
  t.match(await socket.next(), {
    error: { code: 'insufficient_scopes', missing_scopes: ['users:delegate'] },
  })
  await role('ADMIN')
  socket.send(message)
  await socket.until('stream_complete')
  socket.close()
})

t.test('what concerns only oneself needs no role', async (t) => {
  const { there } = await scene(t)
  const mine = (key: Client) => key.ask('GET', '/api/me/api-keys')
  t.match(await mine(there), { status: 200, body: { total: 1 } })
  const created = await there.ask('POST', '/api/me/api-keys', { name: 'Second' })
  t.equal(created.status, 201)
  t.match(await there.ask('DELETE', `/api/me/api-keys/${created.body.key_id}`), { status: 204 })
})
