import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projections } from '../../projections/all.ts'
import { exportHistory } from '../../src/cli/audit/export-history.ts'
import { remoteHistory } from '../../src/cli/audit/remote-history.ts'
import { verifyExport } from '../../src/cli/audit/verify-export.ts'
import { localProjections } from '../../src/cli/local-projections.ts'
import { listed } from '../../src/cli/projections.ts'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { contents, user } from '../support/client.ts'
import { eventStoreDbDouble } from '../support/eventstoredb-double/double.ts'
import { eventually } from '../support/eventually.ts'
import { allEvents, plant, plantEach, withLog } from '../support/planting.ts'
import { superAdminKey } from '../support/platform.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import { newFolder, startApp } from '../support/server.ts'
import { workload } from '../support/workload.ts'

t.setTimeout(300_000)

/** A server with one organization that has done everything, and another that has talked. */
const scene = async (t: Test, store: { EVENTSTORE_URL?: string } = {}) => {
  const env = { DATA_DIR: await newFolder(t), ...store }
  const server = await startApp(t, env)
  const neighbour = await server.platform.organization()
  const { key } = await neighbour.key({ scopes })
  await server.as(key).chat({ messages: user('Hello'), session_id: 'before' })
  const damaged = await workload(server.platform)
  const readiness = async () => (await raw(server.url)('/api/health/ready')).body
  const isDamaged = ({ stream }: RecordedEvent) =>
    stream.includes(damaged.organizationId) || stream.endsWith(damaged.ownerId)
  return { env, server, neighbour, key, damaged, readiness, isDamaged }
}

/** Over EventStoreDB each rebuild reads the log through a double: for everyday a sixth of them. */
const rebuiltOver = (kind: 'embedded' | 'EventStoreDB') =>
  kind === 'embedded' ? projections : projections.filter((_, n) => n % rounds(6, 1) === 0)

type Scene = Awaited<ReturnType<typeof scene>>

const rebuilt = async ({ server }: Scene, name: string): Promise<string | undefined> => {
  await server.platform.ask('POST', `/projections/${name}/rebuild`)
  const look = async () =>
    (await server.platform.ask('GET', '/projections')).projections.find(
      (projection: { name: string }) => projection.name === name,
    )
  await eventually(async () => (await look()).state !== 'rebuilding')
  return (await look()).error
}

/** The neighbour goes on as if nothing had happened. */
const neighbourGoesOn = async (t: Test, world: Scene, views: readonly { name: string }[]) => {
  const { server, key, neighbour, env } = world
  const own = server.as(key)
  const reply = await own.chat({ messages: user('And now?'), session_id: 'after' })
  t.equal(reply.status, 200, 'it chats')
  t.equal((await contents(own, 'before')).length, 2, 'and lists what it said before')
  t.equal((await own.ask('GET', '/api/external/sessions')).body.sessions.length, 2)
  const { organizationId } = neighbour
  const at = `/organizations/${organizationId}`
  for (const path of ['/members', '/api-keys', '/agents', '/audit/events?limit=500'])
    await server.platform.ask('GET', `${at}${path}`)
  for (const { name } of views) t.equal(await rebuilt(world, name), undefined, `${name} again`)
  const path = join(env.DATA_DIR, 'export')
  const history = remoteHistory({
    url: server.url,
    key: superAdminKey,
    organization: organizationId,
  })
  const progress = () => undefined
  await exportHistory({ history, organization: organizationId, path, progress })
  t.equal((await verifyExport(path, {})).fault, undefined, 'it exports and verifies')
}

for (const kind of ['embedded', 'EventStoreDB'] as const)
  t.test(`one unreadable event of each type stops nobody else: ${kind}`, async (t) => {
    const double = kind === 'embedded' ? undefined : await eventStoreDbDouble()
    if (double) t.teardown(double.stop)
    const world = await scene(t, double ? { EVENTSTORE_URL: double.url } : {})
    const { env, server, damaged, readiness, isDamaged } = world
    const views = rebuiltOver(kind)
    await server.stop()
    const planted = await withLog(env, (store) => plantEach(store, isDamaged))
    t.ok(planted > 60, `${planted} events are planted`)
    await server.restart()

    const ready = await readiness()
    t.match(ready, {
      status: 'degraded',
      checks: {
        projections: { ok: true },
        unreadable_events: { ok: false, detail: /at position \d+ of \S+ \(invalid_type at data/ },
      },
    })
    t.match(ready.checks.unreadable_events.detail, `and ${planted - 20} more`)
    await neighbourGoesOn(t, world, views)

    const { all } = damaged.keys
    t.match(await server.as(all.key).ask('GET', '/api/external/agents'), { status: 401 })
    const metrics = (await raw(server.url)('/metrics')).text
    t.match(metrics, `reprise_unreadable_events ${planted}`)
    t.match(metrics, /reprise_unreadable_event\{position="\d+",stream="[^"]+",type="\w+",reason=/)
    const listing = await server.platform.ask('GET', '/projections')
    t.equal(listing.unreadable_events.length, Math.min(100, planted))

    await server.tick()
    await server.restart()
    t.match(await readiness(), { status: 'degraded' }, 'also after another start')
    await neighbourGoesOn(t, world, views)
    await server.stop()

    const local = await localProjections(env)
    t.match(await listed(local), /UNREADABLE AT/)
    for (const { name } of views) {
      const { differences } = await local.verify(name)
      t.strictSame(differences, [], `${name} is what the log comes to`)
    }
    await local.close()
  })

t.test(
  'a right that depends on an unreadable event is denied, and what it was is named',
  async (t) => {
    const { env, server, readiness, damaged, neighbour } = await scene(t)
    const victim = await server.platform.organization()
    const { key } = await victim.key()
    const other = await victim.key()
    const mine = server.as(key)
    await mine.chat({ messages: user('Hello'), session_id: 's' })
    const keys = await server.platform.ask(
      'GET',
      `/organizations/${victim.organizationId}/api-keys`,
    )
    await server.stop()
    const hint = key.slice(-4)
    const { key_id } = keys.api_keys.find((apiKey: { key_hint: string }) =>
      apiKey.key_hint.endsWith(hint),
    )
    const position = await withLog(env, async (store) => {
      const like = (await allEvents(store)).find(({ stream }) => stream.endsWith(key_id))
      if (!like) throw new Error('the key has no events')
      return (await plant(store, like, 'ApiKeyRevoked')).position
    })
    await server.restart()
    t.match(await server.as(key).ask('GET', '/api/external/agents'), { status: 401 })
    t.match(await server.as(other.key).ask('GET', '/api/external/agents'), { status: 200 })
    t.match(await readiness(), {
      status: 'degraded',
      checks: { unreadable_events: { detail: `ApiKeyRevoked at position ${position}` } },
    })
    const at = `/organizations/${victim.organizationId}`
    const state = await server.platform.ask('GET', `${at}/audit/state?view=api_keys`)
    t.match(state.unreadable_events, [{ position, type: 'ApiKeyRevoked' }])
    t.match(
      state.documents.map(({ document }: { document: { key_id: string; incomplete?: true } }) => [
        document.key_id === key_id,
        document.incomplete,
      ]),
      [
        [true, true],
        [false, undefined],
      ],
    )
    const refused = await server
      .as(superAdminKey)
      .ask('DELETE', `/api/admin${at}/api-keys/${key_id}`)
    t.match(refused, { status: 503, body: { error: { code: 'stream_unreadable' } } })
    t.ok(damaged.organizationId !== neighbour.organizationId)
  },
)

t.test('a session with an unreadable event refuses messages and can be erased', async (t) => {
  const { env, server, key, neighbour } = await scene(t)
  const reply = await server.as(key).chat({ messages: user('Bye'), session_id: 'before' })
  const response = `resp_${reply.body.id.replace('chatcmpl-', '')}`
  await server.stop()
  await withLog(env, async (store) => {
    const like = (await allEvents(store)).find(({ stream }) => stream.endsWith('_before'))
    if (like) await plant(store, like, 'RunCompleted', { runId: 7 })
  })
  await server.restart()
  const own = server.as(key)
  const refused = await own.chat({ messages: user('More'), session_id: 'before' })
  t.match(refused, { status: 503, body: { error: { code: 'stream_unreadable' } } })
  t.equal((await own.chat({ messages: user('Hi'), session_id: 'new' })).status, 200)
  t.equal((await contents(own, 'before')).length, 4, 'what was said before can be read')
  const path = `/api/external/v1/responses/${response}?conversation=true`
  const erased = await own.ask('DELETE', path)
  t.equal(erased.status, 200)
  t.equal((await own.ask('GET', '/api/external/sessions/before/messages')).status, 404)
  const at = `/organizations/${neighbour.organizationId}`
  const events = await server.platform.ask('GET', `${at}/audit/events?type=SessionErased`)
  t.equal(events.events.length, 1)
})
