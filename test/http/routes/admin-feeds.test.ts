import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import type { Client } from '../../support/client.ts'
import { consumer } from '../../support/consumer.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp, startServer } from '../../support/server.ts'

const user = (content: string) => ({ messages: [{ role: 'user', content }] })

/** What the server says that a read model holds now, by id. */
const stateOf = async (admin: Client, organizationId: string, view: string) => {
  const path = `/api/admin/organizations/${organizationId}/audit/state?view=${view}&limit=500`
  const { documents } = (await admin.ask('GET', path)).body
  return new Map(
    documents.map(({ id, document }: { id: string; document: unknown }) => [id, document]),
  )
}

t.test('a feed is a snapshot, then every change; it resumes where it was left', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization()
  const other = await platform.organization()
  const { organizationId } = organization
  const key = await organization.key()
  const eraser = await organization.key({ scopes })
  const provisioned = await eraser.ask('POST', '/api/external/management/users', {
    email: 'guest@partner.example',
    organization_id: organizationId,
  })
  const guest = provisioned.body.user_id
  const foreign = await other.key()
  const path = (view: string) => `/api/admin/organizations/${organizationId}/feeds/${view}`

  const guests = (content: string) =>
    eraser.chat({ ...user(content), session_id: 's-1', on_behalf_of: guest })
  t.equal((await guests('One')).status, 200)
  await key.chat({ ...user('Two'), session_id: 's-2' })
  const views = ['sessions', 'messages', 'runs', 'usage']
  const all = views.map((view) => ({ view, feed: consumer(url, eraser.key) }))
  const same = async () => {
    for (const { view, feed } of all) {
      const expected = await stateOf(eraser, organizationId, view)
      await feed.until(
        () => JSON.stringify([...feed.table].sort()) === JSON.stringify([...expected].sort()),
      )
      t.strictSame(new Map([...feed.table].sort()), new Map([...expected].sort()), view)
    }
  }
  for (const { view, feed } of all) await feed.connect(path(view))
  await same()
  t.ok(all.every(({ feed }) => feed.items.every(({ op }) => op === 'upsert')))

  await guests('Three')
  await foreign.chat({ ...user('Not yours'), session_id: 's-1' })
  await same()

  for (const { feed } of all) await feed.leave()
  await key.chat({ ...user('Four'), session_id: 's-3' })
  const erased = `/api/external/management/users/${guest}/sessions/s-1`
  t.equal((await eraser.ask('DELETE', erased)).status, 200)
  for (const { view, feed } of all) await feed.connect(path(view))
  await same()
  const [, messages] = all
  t.ok(messages?.feed.items.some(({ op }) => op === 'delete'))
  const seen = JSON.stringify(all.map(({ feed }) => feed.items))
  t.notMatch(seen, /Not yours/)
  t.notMatch(seen, new RegExp(other.organizationId))
  await key.chat({ ...user('Five'), session_id: 's-2' })
  await same()
  for (const { feed } of all) await feed.leave()

  const fresh = consumer(url, superAdminKey)
  await fresh.connect(`${path('sessions')}?snapshot=false`)
  await key.chat({ ...user('Six'), session_id: 's-6' })
  await fresh.until(() => fresh.table.size === 1)
  await fresh.leave()

  const lines = await fetch(new URL(path('sessions'), url), {
    headers: { 'x-api-key': superAdminKey, accept: 'application/x-ndjson' },
  })
  const batch = (await lines.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.strictSame(
    new Map(batch.map(({ id, document }) => [id, document])),
    await stateOf(eraser, organizationId, 'sessions'),
  )
})

t.test('feeds are listed with the schema that their documents keep', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization()
  const { organizationId } = organization
  await (await organization.key()).chat(user('Hello'))
  const { feeds } = await platform.ask('GET', `/organizations/${organizationId}/feeds`)
  t.ok(feeds.length >= 14)
  const ajv = new Ajv2020({ strict: false })
  for (const { read_model, schema, position, lag } of feeds) {
    t.ok(position >= 0 && lag >= 0, read_model)
    const feed = consumer(url, superAdminKey)
    await feed.connect(`/api/admin/organizations/${organizationId}/feeds/${read_model}`)
    await feed.until(() => feed.last !== undefined)
    const fits = ajv.compile(schema)
    for (const [, document] of feed.table)
      t.ok(fits(document), `${read_model}: ${JSON.stringify(fits.errors)}`)
    await feed.leave()
  }
})

t.test('a feed is refused, or ends, like any other access', async (t) => {
  const { url, platform } = await startApp(t, {}, { keepAliveMs: 50 })
  const organization = await platform.organization()
  const other = await platform.organization()
  const { organizationId } = organization
  const at = `/api/admin/organizations/${organizationId}/feeds`
  const theirs = await other.key({ scopes: ['admin:read'] })
  for (const path of [at, `${at}/sessions`])
    t.match(await theirs.ask('GET', path), { status: 403, code: 'organization_access_denied' })
  const none = await organization.key({ scopes: ['agents:list'] })
  t.match(await none.ask('GET', `${at}/sessions`), { status: 403, code: 'insufficient_scopes' })
  const own = await organization.key({ scopes: ['admin:read'] })
  t.match(await own.ask('GET', `${at}/users`), { status: 404, code: 'read_model_not_found' })
  t.match(await own.ask('GET', `${at}/sessions?after=999999999`), { code: 'invalid_query' })
  t.equal((await own.ask('HEAD', `${at}/sessions`)).status, 405, 'nobody would read it')
  const bad = { headers: { 'last-event-id': 'x' } }
  t.match(await own.ask('GET', `${at}/sessions`, undefined, bad), { code: 'invalid_query' })

  const feed = consumer(url, own.key)
  await feed.connect(`${at}/agents`)
  await feed.until(() => feed.table.size > 0)
  const keys = await platform.ask('GET', `/organizations/${organizationId}/api-keys`)
  for (const { key_id, key_hint } of keys.api_keys)
    if (own.key.endsWith(key_hint.slice(1)))
      await platform.ask('DELETE', `/organizations/${organizationId}/api-keys/${key_id}`)
  await feed.ended
  t.pass('a revoked key ends it')
})

t.test('a feed goes on across a restart of the server', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const { organizationId } = organization
  const path = `/api/admin/organizations/${organizationId}/feeds/sessions`
  const key = await organization.key()
  const feed = consumer(server.url, superAdminKey)
  await key.chat({ ...user('One'), session_id: 's-1' })
  await feed.connect(path)
  await key.chat({ ...user('Two'), session_id: 's-2' })
  await feed.until(() => feed.table.size === 2)
  await key.chat({ ...user('Three'), session_id: 's-3' })
  await server.kill9()
  await feed.ended
  await server.restart()
  await feed.connect(path, server.url)
  await server.as(key.key).chat({ ...user('Four'), session_id: 's-4' })
  const expected = await stateOf(server.as(superAdminKey), organizationId, 'sessions')
  await feed.until(
    () => JSON.stringify([...feed.table].sort()) === JSON.stringify([...expected].sort()),
  )
  t.equal(expected.size, 4)
  await feed.leave()
})

t.test('open feeds are none of the requests at once that a plan allows', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization({ plan: 'basic_monthly' })
  const key = await organization.key({ scopes })
  const path = `/api/admin/organizations/${organization.organizationId}/feeds/sessions`
  const followers = Array.from({ length: 6 }, () => consumer(url, key.key))
  for (const follower of followers) await follower.connect(path)
  t.equal((await key.chat({ ...user('Hi'), session_id: 's-1' })).status, 200)
  for (const { until, table } of followers) await until(() => table.size === 1)
  t.ok(followers.every(({ table }) => table.size === 1))
  for (const { leave } of followers) await leave()
})
