import t from 'tap'
import { partner, withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

t.test('organization keys', async (t) => {
  const all = await startApp(t)
  const { clientOf: as } = all
  const { at, owner, owner_user_id, organization_id } = await withOrganization(all)
  const created = await owner('POST', `${at}/api-keys`, {
    name: 'Partner',
    provisioning: true,
    expires_at: '2999-01-01T01:00:00+01:00',
  })
  t.match(created, {
    status: 201,
    body: {
      key: /^svc_live_[A-Za-z0-9]{32}$/,
      user_id: owner_user_id,
      type: 'organization',
      rate_limit_minute: 100,
      rate_limit_hour: 1_000,
      provisioning: true,
      expires_at: '2999-01-01T00:00:00.000Z',
      last_used_at: null,
      request_count: 0,
    },
  })
  const { key, key_id, scopes } = created.body
  t.ok(scopes.includes('users:provision') && scopes.includes('users:delegate'))
  const listed = await owner('GET', `${at}/api-keys`)
  t.match(listed, {
    status: 200,
    body: { api_keys: [{ key_id, provisioning: true, key_hint: `…${key.slice(-4)}` }] },
  })
  t.notMatch(JSON.stringify(listed.body), key)
  t.strictSame(Object.keys(listed.body.api_keys[0]).includes('hash'), false)

  const path = `${at}/api-keys/${key_id}`
  const asKey = as(key)
  t.match(await asKey('GET', `${at}/api-keys`), {
    status: 403,
    body: { error: 'insufficient_scopes', missing_scopes: ['admin:read'] },
  })
  const change = { scopes: ['admin:read'], rate_limit_minute: 9, description: 'Reads' }
  t.match(await owner('PATCH', path, change), { status: 200, body: change })
  t.match(await asKey('GET', `${at}/api-keys`), { status: 200, body: { total: 1 } })
  for (const [body, param] of [
    [{ scopes: ['everything'] }, 'scopes.0'],
    [{ rate_limit_minute: 1_001 }, 'rate_limit_minute'],
    [{ rate_limit_hour: 0 }, 'rate_limit_hour'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ] as const)
    t.match(await owner('PATCH', path, body), {
      status: 400,
      body: { error: { code: 'invalid_input', param } },
    })
  const other = as(key, { 'x-organization-id': '0198c0de-0000-7000-8000-000000000001' })
  t.match(await other('GET', `${at}/api-keys`), { status: 403, code: 'organization_access_denied' })
  t.match(await as(key, { 'x-organization-id': organization_id })('GET', `${at}/api-keys`), {
    status: 200,
  })
  t.match(await owner('DELETE', path), { status: 204 })
  t.match(await asKey('GET', `${at}/api-keys`), { status: 401, code: 'invalid_api_key' })
  t.match(await owner('DELETE', path), { status: 404, code: 'key_not_found' })
  t.match(await owner('PATCH', path, {}), { status: 404, code: 'key_not_found' })
})

t.test('partner scopes are in no default set, and added by updating a key', async (t) => {
  const all = await startApp(t)
  const { at, organization_id, owner, member } = await partner(all)
  const users = '/api/external/management/users'
  const { key, key_id, scopes, provisioning } = (
    await owner('POST', `${at}/api-keys`, { name: 'App' })
  ).body
  t.strictSame(scopes, [
    'orchestrator:invoke',
    'orchestrator:stream',
    'sessions:read',
    'sessions:messages',
    'agents:list',
    'agents:invoke',
    'content:read',
    'content:retry',
  ])
  t.equal(provisioning, false)
  const provision = () =>
    all.clientOf(key)('POST', users, { email: 'ann@example.com', organization_id })
  t.match(await provision(), { body: { missing_scopes: ['users:provision'] } })
  const path = `${at}/api-keys/${key_id}`
  const change = { scopes: [...scopes, 'users:provision'], rate_limit_minute: 7 }
  const asBo = await member('bo@example.com', 'admin:read', 'admin:write')
  t.match(await asBo('PATCH', path, change), { status: 403, code: 'role_required' })
  const other = await partner(all, 'other')
  t.match(await other.owner('PATCH', path, change), {
    status: 403,
    code: 'organization_access_denied',
  })
  t.match(await other.owner('PATCH', `${other.at}/api-keys/${key_id}`, change), {
    status: 404,
    code: 'key_not_found',
  })
  t.match(await owner('PATCH', path, change), {
    status: 200,
    body: { ...change, name: 'App', rate_limit_hour: 1_000, provisioning: false },
  })
  t.match(await provision(), { status: 200 }, 'at once')
  const { events } = (await owner('GET', `${at}/audit/events?type=ApiKeyChanged`)).body
  t.match(events, [{ data: { scopes: change.scopes, rateLimitMinute: 7 } }])

  const mine = (await asBo('POST', '/api/me/api-keys', { name: 'Mine' })).body
  for (const scope of ['users:provision', 'users:delegate', 'users:credentials', 'sessions:delete'])
    t.notOk(mine.scopes.includes(scope), scope)
  for (const more of [{ scopes: ['users:delegate'] }, { provisioning: true }])
    t.match(await asBo('POST', '/api/me/api-keys', { name: 'More', ...more }), {
      status: 403,
      code: 'scope_not_allowed',
    })
  t.match(await owner('PATCH', `${at}/api-keys/${mine.key_id}`, change), { code: 'key_not_found' })
})

t.test('user keys', async (t) => {
  const all = await startApp(t)
  const { clientOf: as, asPlatform: platform } = all
  const { owner, organization_id } = await withOrganization(all)
  const create = () => owner('POST', '/api/me/api-keys', { name: 'Mine' })
  const first = await create()
  t.match(first, { status: 201, body: { key: /^svc_user_/, type: 'user' } })
  t.notOk(first.body.scopes.includes('rag:delete'))
  const asFirst = as(first.body.key, { 'x-organization-id': organization_id })
  t.match(await asFirst('GET', '/api/me/api-keys'), { status: 200, body: { total: 2 } })
  for (let n = 0; n < 3; n++) t.equal((await create()).status, 201)
  t.match(await create(), { status: 409, body: { error: { code: 'key_limit_reached' } } })
  const path = `/api/me/api-keys/${first.body.key_id}`
  t.match(await platform('DELETE', path), { status: 404, code: 'user_not_found' })
  t.match(await owner('DELETE', '/api/me/api-keys/nothing'), { status: 404, code: 'key_not_found' })
  t.match(await owner('DELETE', path), { status: 204 })
  t.match(await asFirst('GET', '/api/me/api-keys'), { status: 401 })
  t.equal((await create()).status, 201)
  t.match(await platform('GET', '/api/me/api-keys'), { status: 404, code: 'user_not_found' })
})

t.test('a null field of a new key counts as absent', async (t) => {
  const { at, owner, owner_user_id } = await withOrganization(await startApp(t))
  const unset = { description: null, scopes: null, rate_limit_minute: null, rate_limit_hour: null }
  const more = { expires_at: null, provisioning: null, type: null, user_id: null }
  const plain = await owner('POST', `${at}/api-keys`, { name: 'Plain' })
  const created = await owner('POST', `${at}/api-keys`, { name: 'Plain', ...unset, ...more })
  const { key, key_id, key_hint, created_at, ...settings } = plain.body
  t.match(created, { status: 201, body: settings })
  t.match(settings, {
    description: '',
    type: 'organization',
    user_id: owner_user_id,
    rate_limit_minute: 100,
    rate_limit_hour: 1_000,
    provisioning: false,
  })
})

t.test('PATCH and DELETE of a user key: for its user and the platform only', async (t) => {
  const all = await startApp(t)
  const { clientOf: as, asPlatform: platform } = all
  const { at, owner, organization_id } = await withOrganization(all)
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  const accept = [{ organization_id }]
  const { user_id } = (await owner('POST', `${at}/members`, { ...login, role: 'ADMIN' })).body
  await platform('POST', '/api/admin/identity/logins', { ...login, accept })
  const created = await platform('POST', `${at}/api-keys`, { name: 'Ann', type: 'user', user_id })
  const ann = as(created.body.key)
  const path = `${at}/api-keys/${created.body.key_id}`
  const change = { scopes: ['admin:read', 'admin:write', 'rag:delete'], rate_limit_minute: 7 }

  t.match(await owner('PATCH', path, change), { status: 404, code: 'key_not_found' })
  t.match(await owner('DELETE', path), { status: 404, code: 'key_not_found' })
  t.match(await platform('PATCH', path, change), { status: 200, body: { ...change, type: 'user' } })
  t.match(await ann('PATCH', path, { name: 'Mine' }), { status: 200, body: { name: 'Mine' } })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const elsewhere = `/api/admin/organizations/${other.body.organization_id}/api-keys`
  for (const method of ['PATCH', 'DELETE'] as const)
    t.match(await platform(method, `${elsewhere}/${created.body.key_id}`, {}), {
      status: 404,
      code: 'key_not_found',
    })

  t.match(await platform('DELETE', path), { status: 204 })
  t.match(await ann('GET', '/api/me/api-keys'), { status: 401 })
  t.match(await platform('DELETE', path), { status: 404, code: 'key_not_found' })
  for (let n = 0; n < 5; n++)
    t.equal(
      (await platform('POST', `${at}/api-keys`, { name: 'Ann', type: 'user', user_id })).status,
      201,
    )
})
