import t from 'tap'
import { user } from '../../support/client.ts'
import { connectScene } from '../../support/connect-scene.ts'
import { partner } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

const value = 'sk-never-shown'

t.test('credentials of provisioned users', async (t) => {
  const all = await startApp(t)
  const { at, owner, provisioned, key, member } = await partner(all)
  const ask = await key('users:credentials')
  const { user_id, path } = await provisioned('ann@example.com')
  const credentials = `${path}/credentials`

  const created = await ask('PUT', `${credentials}/SHOP_TOKEN`, { value })
  const { created_at } = created.body
  t.strictSame(created, {
    status: 200,
    code: undefined,
    body: { name: 'SHOP_TOKEN', created_at, updated_at: created_at, created: true },
  })
  const rotated = await ask('PUT', `${credentials}/SHOP_TOKEN`, { value: 'another' })
  t.match(rotated, { status: 200, body: { name: 'SHOP_TOKEN', created_at, created: false } })
  t.ok(rotated.body.updated_at > created_at)
  await ask('PUT', `${credentials}/MAP`, { value })
  const { status, body } = await ask('GET', credentials)
  t.equal(status, 200)
  const { updated_at } = rotated.body
  t.match(body, { credentials: [{ name: 'MAP' }, { name: 'SHOP_TOKEN', updated_at }], total: 2 })
  t.strictSame(Object.keys(body.credentials[0]), ['name', 'created_at', 'updated_at'])

  t.match(await ask('DELETE', `${credentials}/MAP`), { status: 204, body: undefined })
  t.match(await ask('DELETE', `${credentials}/MAP`), {
    status: 404,
    code: 'credential_not_found',
    body: { detail: String },
  })
  t.match(await ask('GET', credentials), { body: { total: 1 } })

  t.test('every change is in the audit log, no value is', async (t) => {
    const { body } = await owner('GET', `${at}/audit/events?type=CredentialStored`)
    t.strictSame(body.events[0].data, {
      name: 'SHOP_TOKEN',
      value: { withheld: true },
      hosts: [],
    })
    const text = JSON.stringify((await owner('GET', `${at}/audit/events`)).body)
    for (const type of ['CredentialStored', 'CredentialRotated', 'CredentialDeleted'])
      t.match(text, type)
    t.notMatch(text, value)
  })

  t.test('refusals', async (t) => {
    for (const name of ['shop', '1A', 'A-B', 'A'.repeat(65)])
      t.match(await ask('PUT', `${credentials}/${name}`, { value }), {
        status: 400,
        body: { detail: { name: [] } },
      })
    for (const bad of [{}, { value: '' }])
      t.match(await ask('PUT', `${credentials}/A`, bad), {
        status: 400,
        body: { detail: [{ loc: ['body', 'value'] }] },
      })
    for (const bad of ['a\nb', ' a', 'é'])
      t.match(await ask('PUT', `${credentials}/A`, { value: bad }), {
        status: 400,
        code: 'invalid_input',
        body: { detail: /ASCII/ },
      })
    const invited = await owner('POST', `${at}/members`, { email: 'invited@example.com' })
    const of = (id: string) => `/api/external/management/users/${id}/credentials`
    t.match(await ask('GET', of(invited.body.user_id)), { status: 403, code: 'not_provisioned' })
    t.match(await ask('PUT', `${of(invited.body.user_id)}/A`, { value }), {
      status: 403,
      body: { detail: String },
    })
    for (const id of ['nobody', '0198c0de-0000-7000-8000-000000000001'])
      t.match(await ask('GET', of(id)), {
        status: 404,
        code: 'user_not_found',
        body: { detail: String },
      })
    t.match(await owner('GET', of(user_id)), { status: 403, code: 'insufficient_scopes' })
  })

  t.test('by an owner or admin alone', async (t) => {
    const asBo = await member('bo@example.com', 'users:credentials')
    for (const [method, url, body] of [
      ['GET', credentials],
      ['PUT', `${credentials}/SHOP_TOKEN`, { value }],
      ['DELETE', `${credentials}/SHOP_TOKEN`],
      ['POST', `${path}/connect-links`, { agent_id: 'any', return_url: 'https://a.example/' }],
      ['DELETE', `${path}/connect-links`],
    ] as const)
      t.match(await asBo(method, url, body), { status: 403, code: 'role_required' })
  })

  t.test('of many that store at once, one creates', async (t) => {
    const put = (_: unknown, n: number) =>
      ask('PUT', `${credentials}/AT_ONCE`, { value: `value-${n}` })
    const replies = await Promise.all(Array.from({ length: 6 }, put))
    for (const { status } of replies) t.equal(status, 200)
    t.equal(replies.filter(({ body }) => body.created).length, 1)
    t.match(await ask('GET', credentials), { body: { total: 2 } })
    t.match(await ask('DELETE', `${credentials}/AT_ONCE`), { status: 204 })
  })

  t.test('of one organization alone', async (t) => {
    const other = await partner(all, 'other')
    const theirs = await other.provisioned('ann@example.com')
    t.equal(theirs.user_id, user_id)
    const ask = await other.key('users:credentials')
    t.match(await ask('GET', `${theirs.path}/credentials`), { body: { credentials: [], total: 0 } })
    t.match(await ask('DELETE', `${theirs.path}/credentials/SHOP_TOKEN`), { status: 404 })
  })
})

t.test('an agent sends the value of whom it acts for, as it is now', async (t) => {
  const scene = await connectScene(t)
  const { key, shop, user_id, of, organization } = scene
  const target_agent_id = await scene.agent('SHOP')
  const bo = await scene.provisioned('bo@example.com')
  /** What the shop was sent during a chat in the name of a user. */
  const sent = async (on_behalf_of: string) => {
    const before = shop.requests.length
    const messages = user('Call shop')
    const chat = await key.chat({ messages, target_agent_id, on_behalf_of })
    t.equal(chat.status, 200)
    const values = shop.requests.slice(before).map(({ headers }) => headers['x-shop'])
    return { values, answer: chat.body.choices[0].message.content }
  }
  const put = (value: string) => key.ask('PUT', `${of}/credentials/SHOP`, { value })
  await put('first')
  t.strictSame((await sent(user_id)).values, ['first'])
  await put('second')
  t.strictSame((await sent(user_id)).values, ['second'], 'rotated')
  const owner = await organization.key({ type: 'user' })
  await owner.ask('PUT', '/api/external/me/credentials/SHOP', { value: 'of the owner' })
  const other = await sent(bo.user_id)
  t.strictSame(other.values, [], 'never another’s')
  t.match(other.answer, 'SHOP', 'names what is missing')
  await key.ask('DELETE', `${of}/credentials/SHOP`)
  t.strictSame((await sent(user_id)).values, [], 'deleted')
})

t.test('own credentials', async (t) => {
  const all = await startApp(t)
  const { at, owner, key, member, organization_id } = await partner(all)
  const mine = '/api/external/me/credentials'
  t.match(await owner('GET', mine), { status: 200, body: { credentials: [], total: 0 } })
  t.match(await owner('PUT', `${mine}/TOKEN`, { value }), { body: { created: true } })
  t.match(await owner('PUT', `${mine}/TOKEN`, { value }), { body: { created: false } })
  t.match(await owner('GET', mine), { body: { credentials: [{ name: 'TOKEN' }], total: 1 } })
  t.match(await owner('DELETE', `${mine}/TOKEN`), { status: 204 })
  t.match(await owner('DELETE', `${mine}/TOKEN`), { status: 404, code: 'credential_not_found' })
  t.match(await owner('PUT', `${mine}/token`, { value }), { status: 400 })
  const shared = await key('secrets:manage')
  t.match(await shared('GET', mine), { status: 403, code: 'user_key_required' })
  const scopes = ['agents:list']
  const created = await owner('POST', `${at}/api-keys`, { name: 'Lists', type: 'user', scopes })
  t.match(await all.clientOf(created.body.key)('GET', mine), { code: 'insufficient_scopes' })

  t.test('each member their own, in each organization', async (t) => {
    const asCy = await member('cy@example.com', 'secrets:manage')
    t.match(await asCy('PUT', `${mine}/TOKEN`, { value }), { body: { created: true } })
    t.match(await asCy('GET', mine), { body: { total: 1 } })
    t.match(await owner('GET', mine), { body: { total: 0 } })
    const { events } = (await owner('GET', `${at}/audit/events?type=CredentialStored`)).body
    t.strictSame(events.at(-1).data, { name: 'TOKEN', value: { withheld: true }, hosts: [] })
    const other = await partner(all, 'other')
    const email = 'cy@example.com'
    const accept = [{ organization_id: other.organization_id }]
    const login = { email, provider: 'test', subject: email, accept }
    await other.owner('POST', `${other.at}/members`, { email: login.email })
    await all.asPlatform('POST', '/api/admin/identity/logins', login)
    const created = await all.asPlatform('POST', `${other.at}/api-keys`, {
      name: 'Other',
      type: 'user',
      user_id: events.at(-1).metadata.actor.user_id,
      scopes: ['secrets:manage'],
    })
    const clientIn = (organization: string) =>
      all.clientOf(created.body.key, { 'x-organization-id': organization })
    t.match(await clientIn(other.organization_id)('GET', mine), { body: { total: 0 } })
    t.match(await clientIn(organization_id)('GET', mine), { body: { total: 1 } })
  })
})
