import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { type StartedApp, startApp } from '../../support/server.ts'

const path = '/api/external/management/users'

/** An organization, and a key of it that provisions. */
const provisioner = async (all: StartedApp) => {
  const organization = await withOrganization(all)
  const { at, owner } = organization
  const created = await owner('POST', `${at}/api-keys`, { name: 'Partner', provisioning: true })
  return { ...organization, ask: all.clientOf(created.body.key) }
}

t.test('POST /api/external/management/users', async (t) => {
  const all = await startApp(t)
  const { clientOf: as, asPlatform: platform } = all
  const { at, owner, ask, organization_id } = await provisioner(all)
  const provision = (email: unknown, more = {}) =>
    ask('POST', path, { email, organization_id, ...more })

  const created = await provision(' Ann.Lee@Example.com ')
  const { user_id } = created.body
  t.strictSame(created, {
    status: 200,
    code: undefined,
    body: { user_id, email: 'ann.lee@example.com', created: true, membership_status: 'pending' },
  })
  t.strictSame(await provision('ANN.LEE@example.com', { name: 'Other' }), {
    ...created,
    body: { ...created.body, created: false },
  })
  t.match((await owner('GET', `${at}/members`)).body.members[1], {
    user_id,
    name: 'ann.lee',
    role: 'MEMBER',
    status: 'pending',
    provisioned: undefined,
  })

  t.test('at once, everyone is given the same account, made once', async (t) => {
    const all = await Promise.all(Array.from({ length: 8 }, () => provision('bo@example.com')))
    const bodies = all.map(({ body }) => body)
    t.equal(new Set(bodies.map(({ user_id }) => user_id)).size, 1)
    t.equal(bodies.filter(({ created }) => created).length, 1)
    t.strictSame([...new Set(bodies.map((body) => body.membership_status))], ['pending'])
  })

  t.test('the first login makes the membership active', async (t) => {
    const login = { email: 'ann.lee@example.com', provider: 'google', subject: 's-1' }
    t.match(await platform('POST', '/api/admin/identity/logins', login), {
      body: { user_id, activated_organization_ids: [organization_id] },
    })
    t.match(await provision('ann.lee@example.com'), {
      status: 200,
      body: { user_id, created: false, membership_status: 'active' },
    })
  })

  t.test('accounts that came by themselves are left alone', async (t) => {
    const login = { email: 'cleo@example.com', provider: 'google', subject: 's-2' }
    await platform('POST', '/api/admin/identity/logins', login)
    t.match(await provision('cleo@example.com'), {
      status: 409,
      code: 'account_not_provisionable',
      body: { detail: /invitation/ },
    })
    await platform('POST', '/api/admin/organizations', {
      name: 'Other',
      owner: { email: 'other@example.com' },
    })
    t.match(await provision('other@example.com'), { code: 'account_not_provisionable' })
    t.match(await provision('owner@example.com'), {
      status: 200,
      body: { created: false, membership_status: 'active' },
    })
  })

  t.test('refusals', async (t) => {
    const wrong = ['nobody', '', 'a@', '@b.example', 'a@b', 'a@@b.example', 'a b@c.example']
    const strange = ['.a@b.example', 'a..b@c.example', 'a@b..example', 'a@-b.example', 'a@1.2.3.4']
    const long = [`${'a'.repeat(65)}@example.com`, `a@${'b.'.repeat(130)}example`]
    for (const email of [...wrong, ...strange, ...long, 'a@[127.0.0.1]', 'a@x.example,b@x.example'])
      t.match(await provision(email), {
        status: 422,
        code: 'invalid_email',
        body: { detail: [{ loc: ['body', 'email'], msg: /email/, type: String }] },
      })
    const fine = ["o'hara+tag@a-b.co.example", 'ünï@exämple.example', '用户@例子.广告']
    for (const email of [...fine, `${'a'.repeat(64)}@example.com`])
      t.match(await provision(email), { status: 200, body: { email } })
    t.match(await provision(undefined), { status: 400, code: 'invalid_input' })
    t.match(await provision('d@example.com', { organization_id: 'another' }), {
      status: 403,
      code: 'organization_access_denied',
      body: { detail: String },
    })
    t.match(await owner('POST', path, {}), { status: 403, code: 'insufficient_scopes' })
    await owner('PATCH', `${at}/members/${user_id}`, { role: 'ADMIN' })
    const key = { name: 'Admin', type: 'user', user_id, provisioning: true }
    const admin = as((await platform('POST', `${at}/api-keys`, key)).body.key)
    const body = { email: 'e@example.com', organization_id }
    t.match(await admin('POST', path, body), { status: 200 })
    await owner('PATCH', `${at}/members/${user_id}`, { role: 'MEMBER' })
    t.match(await admin('POST', path, body), { status: 403, code: 'organization_access_denied' })
  })
})

t.test('GET /api/external/management/users', async (t) => {
  const all = await startApp(t)
  const { at, owner, ask, organization_id } = await provisioner(all)
  await owner('POST', `${at}/members`, { email: 'invited@example.com' })
  const emails = ['a@example.com', 'b@example.com', 'c@example.com']
  for (const email of emails) await ask('POST', path, { email, organization_id, name: 'Name' })
  const listed = async (query = '') => {
    const { body } = await ask('GET', `${path}${query}`)
    return { ...body, users: body.users.map(({ email }: { email: string }) => email) }
  }
  t.strictSame(await listed(), {
    users: emails,
    total: 3,
    page: 1,
    page_size: 50,
    has_next: false,
  })
  t.match(await listed('?page=1&page_size=2'), { users: emails.slice(0, 2), has_next: true })
  t.match(await listed('?page=2&page_size=2'), { users: emails.slice(2), has_next: false })
  t.match(await listed('?email=B@Example.com'), { users: ['b@example.com'], total: 1 })
  t.match(await listed('?email=invited@example.com'), { users: [], total: 0 })
  const { users } = (await ask('GET', path)).body
  t.match(users[0], { name: 'Name', membership_status: 'pending', created_at: String })
  await owner('DELETE', `${at}/members/${users[0].user_id}`)
  t.match(await listed(), { users: emails.slice(1), total: 2 })
  t.match(await ask('GET', `${path}?page=0`), { status: 400, body: { detail: { page: [] } } })
})

t.test('one person, two partners at once', async (t) => {
  const all = await startApp(t)
  const { asPlatform: platform } = all
  const first = await provisioner(all)
  const created = await platform('POST', '/api/admin/organizations', {
    name: 'Second',
    owner: { email: 'second@example.com' },
    plan: 'pro_monthly',
  })
  const second = created.body.organization_id
  const at = `/api/admin/organizations/${second}/api-keys`
  const { key } = (await platform('POST', at, { name: 'Second', provisioning: true })).body
  const partners = [
    { ask: first.ask, organization_id: first.organization_id },
    { ask: all.clientOf(key), organization_id: second },
  ]
  const provision = async () =>
    (
      await Promise.all(
        [...partners, ...partners].map(({ ask, organization_id }) =>
          ask('POST', path, { email: 'Ann@example.com', organization_id }),
        ),
      )
    ).map(({ body }) => body)
  const bodies = await provision()
  const { user_id } = bodies[0]
  t.equal(bodies.filter(({ created }) => created).length, 1)
  for (const body of bodies)
    t.match(body, { user_id, email: 'ann@example.com', membership_status: 'pending' })

  const credits = `/api/admin/users/${user_id}/credits`
  const look = { amount: 0, reason: 'look' }
  t.match((await platform('POST', credits, look)).body, { credit_balance: 0 }, 'no bonus')
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  const signedIn = (await platform('POST', '/api/admin/identity/logins', login)).body
  const organizations = partners.map(({ organization_id }) => organization_id)
  t.equal(signedIn.activated_organization_ids.length, 1, 'the one that made the account')
  t.strictSame(
    [...signedIn.activated_organization_ids, ...signedIn.pending_organization_ids].sort(),
    organizations.toSorted(),
  )
  t.equal(signedIn.current_organization_id, signedIn.activated_organization_ids[0])
  t.match((await provision()).map((body) => body.membership_status).toSorted(), [
    'active',
    'active',
    'pending',
    'pending',
  ])
  const accept = organizations.map((organization_id) => ({ organization_id }))
  const again = await platform('POST', '/api/admin/identity/logins', { ...login, accept })
  t.match(again.body, { pending_organization_ids: [] })
  for (const body of await provision())
    t.match(body, { user_id, created: false, membership_status: 'active' })
  t.match((await first.ask('GET', path)).body.users, [{ user_id, membership_status: 'active' }])
})
