import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { app } from '../../src/app/app.ts'
import { configFrom } from '../../src/config.ts'
import { eventStoreDbDouble } from '../support/eventstoredb-double/double.ts'
import { eventually } from '../support/eventually.ts'
import { superAdminKey } from '../support/platform.ts'

const folder = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

const silent = pino({ level: 'silent' })

const over = async (t: Test) => {
  const double = await eventStoreDbDouble()
  t.teardown(double.stop)
  const opened = async (DATA_DIR: string, env: Record<string, string> = {}) => {
    const EVENTSTORE_URL = `${double.url}&defaultDeadline=300`
    const config = configFrom({ EVENTSTORE_URL, DATA_DIR, DEMO: 'off', ...env })
    const running = await app(config, { log: silent, storeWait: { forMs: 5_000, everyMs: 20 } })
    t.teardown(running.close)
    return running
  }
  return { double, opened }
}

const ready = async ({ http }: Awaited<ReturnType<typeof app>>) =>
  (await http.inject('/api/health/ready')).json()

t.test('another data folder on the same events does not start, the first one does', async (t) => {
  const { opened } = await over(t)
  const [first, other] = [await folder(t), await folder(t)]
  await (await opened(first)).close()
  await t.rejects(opened(other), { name: 'KeysMismatch', message: /^[^\n]+$/ })
  const again = await opened(first)
  t.match(await ready(again), { status: 'ok' })
})

t.test('the same folder with another master key does not start', async (t) => {
  const { opened } = await over(t)
  const DATA_DIR = await folder(t)
  await (await opened(DATA_DIR)).close()
  const MASTER_KEY = Buffer.alloc(32, 9).toString('base64')
  await t.rejects(opened(DATA_DIR, { MASTER_KEY }), { name: 'WrongMasterKey' })
})

t.test('two installations share a server, each with keys and events of its own', async (t) => {
  const { opened } = await over(t)
  const first = await opened(await folder(t), { EVENTSTORE_NAMESPACE: 'one' })
  const second = await opened(await folder(t), { EVENTSTORE_NAMESPACE: 'two' })
  for (const installation of [first, second]) t.match(await ready(installation), { status: 'ok' })
})

t.test('a store that is not there yet is waited for', async (t) => {
  const { double, opened } = await over(t)
  double.stop()
  const opening = opened(await folder(t))
  await double.start()
  t.match(await ready(await opening), { status: 'ok' })
})

t.test('a store that goes away is said by readiness, and one that is back', async (t) => {
  const { double, opened } = await over(t)
  const running = await opened(await folder(t))
  double.stop()
  t.match(await ready(running), { status: 'unavailable', checks: { event_store: { ok: false } } })
  await double.start()
  for (let n = 0; (await ready(running)).status !== 'ok'; n++) t.ok(n < 100)
})

t.test('a start beside a busy application, whose events checkpoints have moved over', async (t) => {
  const { double, opened } = await over(t)
  const DATA_DIR = await folder(t)
  const first = await opened(DATA_DIR, { SUPER_ADMIN_KEY: superAdminKey })
  const clientOf = ({ http }: typeof first) => {
    const headers = { 'x-api-key': superAdminKey, accept: 'application/x-ndjson, application/json' }
    return async (method: 'GET' | 'POST', url: string, payload?: object) =>
      http.inject({ method, url: `/api/admin${url}`, headers, ...(payload ? { payload } : {}) })
  }
  const ask = clientOf(first)
  const owner = { email: 'owner@example.com', name: 'Olga' }
  const created = await ask('POST', '/organizations', { name: 'Acme', owner })
  const at = `/organizations/${created.json().organization_id}`
  const position = async () => {
    const { feeds } = (await ask('GET', `${at}/feeds`)).json()
    return Math.min(...feeds.map((feed: { position: number }) => feed.position))
  }
  const before = await position()
  const foreign = () => ({
    id: randomUUID(),
    type: 'Ordered',
    contentType: 'application/json',
    data: Buffer.from('{}'),
    metadata: Buffer.from(''),
  })
  const moved = await eventually(async () => {
    await double.write('orders-1', Array.from({ length: 1_000 }, foreign))
    const now = await position()
    return now > before ? now : undefined
  })
  t.equal((await ask('GET', `${at}/feeds/agents?after=${moved}`)).statusCode, 200)
  await first.close()
  const second = await opened(DATA_DIR, { SUPER_ADMIN_KEY: superAdminKey })
  t.match(await ready(second), { status: 'ok' })
  const { projections } = (await clientOf(second)('GET', '/projections')).json()
  for (const { name, state } of projections) t.equal(state, 'running', name)
  const resumed = await clientOf(second)('GET', `${at}/feeds/agents?after=${moved}`)
  t.equal(resumed.statusCode, 200, 'where a client was')
  const beyond = await clientOf(second)('GET', `${at}/feeds/agents?after=${moved * 1_000}`)
  t.equal(beyond.statusCode, 400)
})
