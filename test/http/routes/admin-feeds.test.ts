import { isDeepStrictEqual } from 'node:util'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { readModels } from '../../../projections/all.ts'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import type { Document } from '../../../src/ports/views.ts'
import { type Client, client } from '../../support/client.ts'
import { consumer } from '../../support/consumer.ts'
import { eventually } from '../../support/eventually.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { formats } from '../../support/open-api.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp, startChat, startServer } from '../../support/server.ts'
import { workload } from '../../support/workload.ts'

const user = (content: string) => ({ messages: [{ role: 'user', content }] })

/** What the server says that a read model holds now, by id. */
const stateOf = async (admin: Client, organizationId: string, view: string) => {
  const path = `/api/admin/organizations/${organizationId}/audit/state?view=${view}&limit=500`
  const { documents } = (await admin.ask('GET', path)).body
  return new Map<string, Document>(
    documents.map(({ id, document }: { id: string; document: Document }) => [id, document]),
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
  const runs = all.find(({ view }) => view === 'runs')?.feed
  t.ok(
    runs?.items.every(({ op }) => op === 'upsert'),
    'no run is lost by erasure',
  )
  const documents = [...(runs?.table.values() ?? [])] as { erased?: true }[]
  const ofErased = documents.filter(({ erased }) => erased)
  t.match(ofErased, [
    { session_id: 's-1', user_id: guest, status: 'completed', tool_calls: [], charge: Number },
    { session_id: 's-1', user_id: guest, status: 'completed', tool_calls: [], charge: Number },
  ])
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

t.test('a batch is also a table, and Accept says which is wanted', async (t) => {
  const { url, platform } = await startApp(t)
  const { organizationId, agent } = await platform.organization()
  await agent({ name: 'Says "no", often', description: 'one\ntwo' })
  const admin = client(url, superAdminKey)
  const path = `/api/admin/organizations/${organizationId}/feeds/agents`
  const ask = (accept: string) =>
    fetch(new URL(path, url), { headers: { 'x-api-key': superAdminKey, accept } })
  const table = await ask('text/csv')
  t.equal(table.headers.get('content-type'), 'text/csv; header=present; charset=utf-8')
  const text = await table.text()
  const [head = ''] = text.split('\r\n')
  const schema = (await admin.ask('GET', `${path}/schema`)).body
  t.strictSame(head.split(','), ['op', 'id', 'position', ...Object.keys(schema.properties)])
  t.match(
    text,
    /upsert,[0-9a-f-]{36},\d+,[0-9a-f-]{36},"Says ""no"", often",LLM_AGENT,"one\ntwo",true,,/,
  )
  t.match(text, /,\[\],/)

  await agent({ name: '=HYPERLINK("http://evil.example")' })
  const escaped = await fetch(new URL(`${path}?formulas=escape`, url), {
    headers: { 'x-api-key': superAdminKey, accept: 'text/csv' },
  })
  t.match(await escaped.text(), /,"'=HYPERLINK\(""http:\/\/evil\.example""\)",/)
  t.match(await (await ask('text/csv')).text(), /,"=HYPERLINK\(/)
  t.match(await admin.ask('GET', `${path}?formulas=keep`), { status: 400 })

  const typeFor = async (accept: string) => {
    const answer = await ask(accept)
    await answer.body?.cancel()
    return answer.headers.get('content-type')?.replace(/;.*/, '')
  }
  for (const [accept, type] of [
    ['application/x-ndjson;q=0.5, text/event-stream', 'text/event-stream'],
    ['application/x-ndjson, text/event-stream;q=0.5', 'application/x-ndjson'],
    ['application/x-ndjson;q=0, */*', 'text/event-stream'],
    ['text/csv, */*', 'text/csv'],
    ['text/csv;q=0.4, text/event-stream;q=0.3', 'text/csv'],
    ['text/csv, application/x-ndjson;q=0.5', 'text/csv'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['*/*', 'text/event-stream'],
  ] as const)
    t.equal(await typeFor(accept), type, accept)
  t.equal((await ask('text/html')).status, 406)
})

t.test('each read model has its schema', async (t) => {
  const { url, platform } = await startApp(t)
  const { organizationId } = await platform.organization()
  const admin = client(url, superAdminKey)
  const at = `/api/admin/organizations/${organizationId}/feeds`
  for (const { read_model, schema } of (await admin.ask('GET', at)).body.feeds)
    t.strictSame((await admin.ask('GET', `${at}/${read_model}/schema`)).body, schema)
  const { code } = await admin.ask('GET', `${at}/none/schema`)
  t.equal(code, 'read_model_not_found')
})

/**
 * Follows every feed of an organization, or one. `verify` compares each with its read model and
 * checks its documents against its schema.
 */
const followed = async (t: Test, url: string, organizationId: string, only?: string) => {
  const admin = client(url, superAdminKey)
  const at = `/api/admin/organizations/${organizationId}/feeds`
  const { feeds } = (await admin.ask('GET', at)).body
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats })
  const all: { name: string; feed: ReturnType<typeof consumer>; fits: ValidateFunction }[] = []
  for (const { read_model, schema, position, lag } of feeds) {
    t.ok(position >= 0 && lag >= 0, read_model)
    t.equal(schema.additionalProperties, false, `${read_model} tells all its fields`)
    if (only && only !== read_model) continue
    const feed = consumer(url, superAdminKey)
    await feed.connect(`${at}/${read_model}`)
    all.push({ name: read_model, feed, fits: ajv.compile(schema) })
  }
  return {
    names: all.map(({ name }) => name),
    async verify() {
      for (const { name, feed, fits } of all) {
        const isSame = async () =>
          isDeepStrictEqual(new Map(feed.table), await stateOf(admin, organizationId, name))
        t.ok(await eventually(isSame), `${name} is up to date`)
        await feed.leave()
        const upserts = feed.items.filter(({ op }) => op === 'upsert')
        t.ok(upserts.length > 0, `${name} has documents`)
        const faults = upserts.filter(({ document }) => !fits(document))
        for (const { document } of faults.slice(0, 1))
          t.ok(fits(document), `${name}: ${ajv.errorsText(fits.errors)}`)
      }
    },
  }
}

t.test('the documents of feeds match the schema in the list of feeds', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization()
  const { names, verify } = await followed(t, url, organization.organizationId)
  t.strictSame(names, [...readModels.keys()])
  await workload(platform, organization)
  await verify()
})

t.test('an upload that has its vectors keeps the schema too', async (t) => {
  const { server, organization } = await startChat(t, {}, {}, { EMBEDDING_MODEL: 'meaning' })
  const { organizationId } = organization
  const { verify } = await followed(t, server.url, organizationId, 'uploads')
  const shelf = library(await organization.key({ scopes: allRag }))
  await shelf.upload(await shelf.datastore(), encodedFile('car.txt', 'The car is red.'))
  const admin = server.as(superAdminKey)
  const embedded = `/api/admin/organizations/${organizationId}/audit/events?type=UploadEmbedded`
  await eventually(async () => (await admin.ask('GET', embedded)).body.events.length > 0)
  await verify()
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
