import t, { type Test } from 'tap'
import { type Client, client } from '../support/client.ts'
import { startApp } from '../support/server.ts'

const administers = ['admin:read', 'admin:write']

/** An organization with an owner and an admin, each with a user key as it is by default. */
const scene = async (t: Test) => {
  const server = await startApp(t)
  const { platform } = server
  const organization = await platform.organization()
  const at = `/organizations/${organization.organizationId}`
  const admin = await organization.member()
  await platform.ask('PATCH', `${at}/members/${admin}`, { role: 'ADMIN' })
  const keys = `/api/admin${at}/api-keys`
  const idOf = async ({ key }: Client): Promise<string> => {
    const { api_keys } = await platform.ask('GET', `${at}/api-keys`)
    const match = api_keys.find(({ key_hint }: { key_hint: string }) =>
      key_hint.endsWith(key.slice(-4)),
    )
    return `${keys}/${match.key_id}`
  }
  return {
    server,
    organization,
    platform,
    at,
    keys,
    admin,
    members: `/api/admin${at}/members`,
    idOf,
    asOwner: await organization.key({ type: 'user' }),
    asAdmin: await organization.key({ type: 'user', user_id: admin }),
    /** A key with what an answer shows of it. */
    keyIn: (answer: { body: { key: string } }) => client(server.url, answer.body.key),
  }
}

t.test('an admin neither changes nor revokes a key that an owner backs', async (t) => {
  const { organization, admin, members, idOf, asAdmin, asOwner } = await scene(t)
  const stolen = await organization.key({ scopes: ['sessions:read'] })
  const id = await idOf(stolen)
  for (const [method, change] of [
    ['PATCH', { scopes: administers }],
    ['PATCH', { name: 'Renamed' }],
    ['PATCH', { expires_at: null }],
    ['DELETE', undefined],
  ] as const)
    t.match(await asAdmin.ask(method, id, change), { status: 403, code: 'owner_required' })
  const promote = () => stolen.ask('PATCH', `${members}/${admin}`, { role: 'OWNER' })
  t.match(await promote(), { status: 403, code: 'insufficient_scopes' })
  t.match(await stolen.sessions(), { status: 200 }, 'the key is as it was')
  t.match(await asOwner.ask('PATCH', id, { name: 'Renamed' }), { status: 200 })
  t.match(await asOwner.ask('DELETE', id), { status: 204 })
})

t.test('an admin manages keys that no owner backs', async (t) => {
  const { organization, admin, idOf, asAdmin } = await scene(t)
  const key = await organization.key({ scopes: ['sessions:read'], user_id: admin })
  const id = await idOf(key)
  const scopes = ['sessions:read', 'users:provision']
  t.match(await asAdmin.ask('PATCH', id, { scopes }), { status: 200, body: { scopes } })
  t.match(await asAdmin.ask('DELETE', id), { status: 204 })
})

t.test('admin:write alone widens nothing', async (t) => {
  const { organization, keys, idOf, keyIn } = await scene(t)
  const narrow = await organization.key({ scopes: administers })
  const own = await organization.key({ scopes: administers, type: 'user' })
  const id = await idOf(narrow)
  const refused = { status: 403, code: 'scope_not_allowed' }
  for (const scope of ['orchestrator:invoke', 'users:delegate', 'sessions:delete']) {
    const scopes = [...administers, scope]
    t.match(await narrow.ask('PATCH', id, { scopes }), refused, `${scope} for itself`)
    for (const key of [narrow, own])
      t.match(await key.ask('POST', keys, { name: 'More', scopes }), refused, scope)
    t.match(await own.ask('POST', '/api/me/api-keys', { name: 'More', scopes }), refused, scope)
  }
  for (const key of [narrow, own])
    t.match(await key.ask('POST', keys, { name: 'More', provisioning: true }), refused)
  const created = await narrow.ask('POST', keys, { name: 'By default' })
  t.match(created, { status: 201, body: { scopes: [] } }, 'no more than the maker has')
  t.match(await keyIn(created).sessions(), { status: 403, code: 'insufficient_scopes' })
  const less = await narrow.ask('PATCH', id, { scopes: ['admin:write'] })
  t.match(less, { status: 200, body: { scopes: ['admin:write'] } }, 'less is always given')
  t.match(await narrow.ask('PATCH', id, { scopes: administers }), refused, 'and not taken back')
})

t.test('a user key as it is by default gives what only owners and admins give', async (t) => {
  const { asOwner, asAdmin, keys } = await scene(t)
  for (const key of [asOwner, asAdmin]) {
    t.match(await key.ask('POST', keys, { name: 'Partner', provisioning: true }), { status: 201 })
    const scopes = ['rag:delete', 'sessions:delete']
    t.match(await key.ask('POST', '/api/me/api-keys', { name: 'Mine', scopes }), {
      status: 201,
      body: { scopes },
    })
  }
})

t.test('an organization key reaches nothing of its user elsewhere', async (t) => {
  const { organization, platform, keys, admin, asOwner } = await scene(t)
  const home = await platform.organization()
  const at = `/organizations/${organization.organizationId}`
  const [{ email }] = (await platform.ask('GET', `/organizations/${home.organizationId}/members`))
    .members
  await platform.ask('POST', `${at}/members`, { email, role: 'ADMIN' })
  const accept = [{ organization_id: organization.organizationId, allow_backing: true }]
  const login = { email, provider: 'test', subject: email, accept }
  await platform.ask('POST', '/identity/logins', login)
  const own = await home.key({ type: 'user' })
  const [{ key_id }] = (await own.ask('GET', '/api/me/api-keys')).body.api_keys
  const trap = await organization.key({ scopes: administers, user_id: home.ownerId })
  const refused = { status: 403, code: 'user_key_required' }
  t.match(await trap.ask('POST', keys, { name: 'Trap', type: 'user' }), refused)
  t.match(await trap.ask('POST', '/api/me/api-keys', { name: 'Trap' }), refused)
  t.match(await trap.ask('GET', '/api/me/api-keys'), refused)
  t.match(await trap.ask('DELETE', `/api/me/api-keys/${key_id}`), refused)
  for (const key of [trap, asOwner])
    for (const [method, change] of [
      ['PATCH', { scopes: [] }],
      ['DELETE', undefined],
    ] as const)
      t.match(await key.ask(method, `${keys}/${key_id}`, change), { code: 'key_not_found' })
  t.match(await asOwner.ask('POST', keys, { name: 'Trap', type: 'user', user_id: admin }), {
    code: 'not_own_user_key',
  })
  t.match(await own.ask('GET', '/api/me/api-keys'), { status: 200, body: { total: 1 } })
})
