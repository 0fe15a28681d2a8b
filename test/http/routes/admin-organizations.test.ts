import t from 'tap'
import { partner, withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

t.test('organizations', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform, clientOf: as } = all
  const { at, created, owner, organization_id, owner_user_id } = await withOrganization(all)
  t.equal(created.status, 201)
  t.strictSame(Object.keys(created.body), [
    'organization_id',
    'owner_user_id',
    'orchestrator_agent_id',
  ])

  const organization = {
    organization_id,
    name: 'Acme',
    owner_user_id,
    owner_user_ids: [owner_user_id],
  }
  t.match(await platform('GET', at), { status: 200, body: organization })
  t.match(await owner('GET', at), { status: 200, body: organization })
  t.match(await owner('PATCH', at, { name: ' Apex ' }), { status: 200, body: { name: 'Apex' } })
  t.match(await owner('PATCH', at, { name: '' }), {
    status: 400,
    body: { error: { code: 'invalid_input', type: 'invalid_request_error', param: 'name' } },
  })
  t.match(await platform('GET', '/api/admin/organizations?page_size=1'), {
    status: 200,
    body: { organizations: [{ name: 'Apex' }], total: 1, page: 1, page_size: 1, has_next: false },
  })

  const unknown = '/api/admin/organizations/0198c0de-0000-7000-8000-000000000001'
  t.match(await platform('GET', unknown), { status: 404, code: 'organization_not_found' })
  t.match(await platform('PATCH', unknown, { name: 'A' }), { code: 'organization_not_found' })
  t.match(await owner('GET', unknown), { status: 403, code: 'organization_access_denied' })
  t.match(await owner('GET', '/api/admin/organizations'), { status: 403, code: 'platform_only' })
  t.match(await owner('POST', '/api/admin/organizations', {}), { code: 'platform_only' })
  t.match(await as('nothing')('GET', at), { status: 401, code: 'invalid_api_key' })
})

t.test('a missing or wrong field of a new organization is named', async (t) => {
  const { asPlatform: platform } = await startApp(t)
  const create = (body: object) => platform('POST', '/api/admin/organizations', body)
  const owner = { email: 'a@example.com' }
  t.match(await create({ owner }), {
    status: 400,
    body: { error: { code: 'missing_required_field', param: 'name' } },
  })
  for (const [body, param] of [
    [{ name: 'A', owner: { email: 'nobody' } }, 'owner.email'],
    [{ name: 'A', owner, plan: 'gold' }, 'plan'],
    [{ name: 'A', owner, credits: -1 }, 'credits'],
    [{ name: 'A', owner, credits: 0.0000004 }, 'credits'],
  ] as const)
    t.match(await create(body), { status: 400, body: { error: { code: 'invalid_input', param } } })
  const unset = { name: 'A', owner: { ...owner, name: null }, plan: null, credits: null }
  t.match(await create(unset), { status: 201 }, 'null is as if it were not there')
})

t.test('plans, credits and sign-ins', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform } = all
  const { owner, owner_user_id, organization_id } = await withOrganization(all)
  const user = `/api/admin/users/${owner_user_id}`
  t.match(await platform('PUT', `${user}/subscription`, { plan: null }), {
    status: 200,
    body: { user_id: owner_user_id, plan: null },
  })
  t.match(await platform('PUT', `${user}/subscription`, { plan: 'gold' }), { status: 400 })
  t.match(await platform('POST', `${user}/credits`, { amount: -12.345678, reason: 'test' }), {
    status: 200,
    body: { credit_balance: -2.345678, effective_balance: -2.345678 },
  })
  for (const amount of [0.0000004, -0.0000004, 1.0000001, 1e-300, 1e9 + 1, '1', null])
    t.match(
      await platform('POST', `${user}/credits`, { amount, reason: 'test' }),
      { status: 400, body: { error: { param: 'amount' } } },
      `${amount} credits`,
    )
  t.match(await platform('POST', `${user}/credits`, { amount: 0.000001, reason: 'test' }), {
    body: { credit_balance: -2.345677 },
  })
  const sum = 0.1 + 0.2
  t.not(sum, 0.3)
  t.match(await platform('POST', `${user}/credits`, { amount: sum, reason: 'test' }), {
    body: { credit_balance: -2.045677 },
  })
  const nobody = '/api/admin/users/0198c0de-0000-7000-8000-000000000001'
  t.match(await platform('POST', `${nobody}/credits`, { amount: 1, reason: 'test' }), {
    status: 404,
    code: 'user_not_found',
  })
  t.match(await owner('POST', `${user}/credits`, { amount: 1, reason: 'mine' }), {
    code: 'platform_only',
  })
  const login = { email: 'owner@example.com', provider: 'google', subject: 's-1' }
  t.match(await platform('POST', '/api/admin/identity/logins', login), {
    status: 200,
    body: {
      user_id: owner_user_id,
      created: false,
      activated_organization_ids: [],
      pending_organization_ids: [],
      current_organization_id: organization_id,
    },
  })
  t.match(await platform('POST', '/api/admin/identity/logins', { ...login, subject: 's-2' }), {
    status: 409,
    code: 'identity_conflict',
  })
})

t.test('a sign-in with a new address is of the same account', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform } = all
  const { at, owner } = await withOrganization(all)
  const signIn = (email: string, subject: string) =>
    platform('POST', '/api/admin/identity/logins', { email, provider: 'google', subject })
  const first = await signIn('ann@old.example', 'ann')
  const moved = await signIn('Ann@B\u00fccher.example', 'ann')
  t.match(moved, { status: 200, body: { user_id: first.body.user_id, created: false } })
  const spelled = await signIn('ann@xn--bcher-kva.example', 'ann')
  t.match(spelled, { status: 200, body: { user_id: first.body.user_id } })
  await signIn('bo@example.com', 'bo')
  t.match(await signIn('bo@example.com', 'ann'), {
    status: 409,
    code: 'address_taken',
    body: { error: { type: 'conflict_error' } },
  })
  const unverified = { email: 'bo@example.com', provider: 'other', subject: 'x' }
  t.match(
    await platform('POST', '/api/admin/identity/logins', { ...unverified, email_verified: false }),
    { status: 403, code: 'address_not_verified' },
  )
  const invited = await owner('POST', `${at}/members`, { email: 'ann@xn--bcher-kva.example' })
  t.match(invited.body, { user_id: first.body.user_id, status: 'pending' })
})

t.test('users are found by any spelling of their address', async (t) => {
  const all = await startApp(t)
  const { key, organization_id } = await partner(all)
  const ask = await key('users:provision')
  const users = '/api/external/management/users'
  const email = 'zoe\u0308@b\u00fccher.example'
  const created = await ask('POST', users, { email, organization_id })
  t.match(created.body, { email: 'zo\u00eb@b\u00fccher.example', created: true })
  const same = { email: 'ZO\u00cb@xn--bcher-kva.example', organization_id }
  t.match((await ask('POST', users, same)).body, { user_id: created.body.user_id, created: false })
  for (const spelling of [email, 'zo\u00eb@xn--bcher-kva.example'])
    t.match(await ask('GET', `${users}?email=${encodeURIComponent(spelling)}`), {
      body: { users: [{ user_id: created.body.user_id }], total: 1 },
    })
})
