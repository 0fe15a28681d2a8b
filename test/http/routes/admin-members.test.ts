import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

t.test('members', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform, clientOf: as } = all
  const { at, owner, owner_user_id, organization_id } = await withOrganization(all)
  const invited = await owner('POST', `${at}/members`, {
    email: ' Ann@Example.com ',
    role: 'ADMIN',
  })
  t.match(invited, {
    status: 201,
    body: { email: 'ann@example.com', name: 'ann', role: 'ADMIN', status: 'pending' },
  })
  const { user_id } = invited.body
  const ann = `${at}/members/${user_id}`
  t.match(await owner('POST', `${at}/members`, { email: 'ann@example.com' }), {
    status: 409,
    code: 'member_exists',
  })
  t.match(await owner('POST', `${at}/members`, { email: 'b@example.com', role: 'OWNER' }), {
    status: 400,
    body: { error: { param: 'role' } },
  })
  t.match(await owner('GET', `${at}/members`), {
    status: 200,
    body: {
      members: [
        { user_id: owner_user_id, email: 'owner@example.com', name: 'Olga', role: 'OWNER' },
        { user_id, status: 'pending' },
      ],
      total: 2,
    },
  })

  const signsIn = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  t.match(await platform('POST', '/api/admin/identity/logins', signsIn), {
    body: { activated_organization_ids: [], pending_organization_ids: [organization_id] },
  })
  const login = { ...signsIn, accept: [{ organization_id }] }
  t.match(await platform('POST', '/api/admin/identity/logins', login), {
    body: { activated_organization_ids: [organization_id] },
  })
  const created = await platform('POST', `${at}/api-keys`, { name: 'Ann', type: 'user', user_id })
  const asAnn = as(created.body.key)
  t.match(await asAnn('GET', `${at}/members`), { status: 200, body: { total: 2 } })
  t.match(await asAnn('PATCH', ann, { role: 'OWNER' }), { status: 403, code: 'owner_required' })
  t.match(await asAnn('DELETE', `${at}/members/${owner_user_id}`), { code: 'owner_required' })
  t.match(await owner('DELETE', `${at}/members/${owner_user_id}`), {
    status: 409,
    code: 'last_owner',
  })
  t.match(await owner('PATCH', ann, { role: 'MEMBER' }), { status: 200, body: { role: 'MEMBER' } })
  t.match(await asAnn('GET', `${at}/members`), { status: 403, code: 'role_required' })
  t.match(await owner('DELETE', ann), { status: 204, body: undefined })
  t.match(await owner('DELETE', ann), { status: 404, code: 'member_not_found' })
  t.match(await asAnn('GET', '/api/me/api-keys'), { code: 'organization_access_denied' })
})

t.test('null for what is not said; ids that nobody has', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform } = all
  const { at, owner } = await withOrganization(all)
  const invited = { email: 'ann@example.com', name: null, role: null }
  t.match(await owner('POST', `${at}/members`, invited), {
    status: 201,
    body: { name: 'ann', role: 'MEMBER' },
  })
  const nobody = `${at}/members/nobody`
  t.match(await owner('PATCH', nobody, { role: 'ADMIN' }), {
    status: 404,
    code: 'member_not_found',
  })
  t.match(await owner('DELETE', nobody), { status: 404, code: 'member_not_found' })
  const nowhere = '/api/admin/organizations/nowhere'
  for (const path of [nowhere, `${nowhere}/members`, `${nowhere}/api-keys`, `${nowhere}/agents`]) {
    t.match(await owner('GET', path), { status: 403, code: 'organization_access_denied' })
    t.match(await platform('GET', path), { status: 404, code: 'organization_not_found' })
  }
  t.match(await platform('POST', `${nowhere}/members`, invited), { status: 404 })
  t.match(await platform('PUT', '/api/admin/users/nobody/subscription', { plan: null }), {
    status: 404,
    code: 'user_not_found',
  })
})

t.test('the keys of a removed member stay revoked when she joins again', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform, clientOf: as } = all
  const first = await withOrganization(all)
  const second = (
    await platform('POST', '/api/admin/organizations', {
      name: 'Apex',
      owner: { email: 'other@example.com' },
      plan: 'pro_monthly',
    })
  ).body.organization_id
  const email = 'ann@example.com'
  const at = `/api/admin/organizations/${second}`
  const { user_id } = (await first.owner('POST', `${first.at}/members`, { email })).body
  await platform('POST', `${at}/members`, { email })
  const accept = [{ organization_id: first.organization_id }, { organization_id: second }]
  const login = { email, provider: 'test', subject: 'ann', accept }
  await platform('POST', '/api/admin/identity/logins', login)
  const keyIn = async (organization: string, settings: object = {}) => {
    const created = await platform('POST', `${organization}/api-keys`, {
      name: 'Ann',
      user_id,
      scopes: ['agents:list', 'admin:read', 'admin:write'],
      ...settings,
    })
    return { id: created.body.key_id, key: created.body.key, ask: as(created.body.key) }
  }
  const old = await keyIn(first.at)
  const apex = await keyIn(at)
  const own = await keyIn(first.at, { type: 'user' })
  const agents = '/api/external/agents'
  const inFirst = as(own.key, { 'x-organization-id': first.organization_id })
  const inSecond = as(own.key, { 'x-organization-id': second })
  for (const ask of [old.ask, apex.ask, inFirst, inSecond])
    t.equal((await ask('GET', agents)).status, 200)

  t.equal((await first.owner('DELETE', `${first.at}/members/${user_id}`)).status, 204)
  const listed = async () => (await first.owner('GET', `${first.at}/api-keys`)).body.api_keys
  t.notMatch(JSON.stringify(await listed()), old.id)
  const revoked = await first.owner('GET', `${first.at}/audit/events?type=ApiKeyRevoked`)
  t.match(revoked.body.events, [{ stream: `apikey-${first.organization_id}_${old.id}` }])
  for (const ask of [apex.ask, inSecond])
    t.equal((await ask('GET', agents)).status, 200, 'elsewhere she is a member still')

  await first.owner('POST', `${first.at}/members`, { email })
  const accepted = await inSecond('POST', `/api/me/memberships/${first.organization_id}/accept`)
  t.equal(accepted.status, 200)
  t.match(await old.ask('GET', agents), { status: 401, code: 'invalid_api_key' })
  t.match(await inFirst('GET', agents), { status: 403, code: 'organization_access_denied' })
  t.equal((await inSecond('GET', agents)).status, 200)
  for (const { ask } of [await keyIn(first.at), await keyIn(first.at, { type: 'user' })])
    t.equal((await ask('GET', agents)).status, 200, 'new keys work')
})

t.test('a key stays when its backer cannot be removed', async (t) => {
  const all = await startApp(t)
  const { at, owner, owner_user_id } = await withOrganization(all)
  const created = await owner('POST', `${at}/api-keys`, { name: 'Shop' })
  t.match(await owner('DELETE', `${at}/members/${owner_user_id}`), { code: 'last_owner' })
  t.equal((await all.clientOf(created.body.key)('GET', '/api/external/agents')).status, 200)
})
