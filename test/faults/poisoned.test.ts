import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { projections, readModels } from '../../projections/all.ts'
import { localProjections } from '../../src/cli/local-projections.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { allEvents, withLog } from '../support/planting.ts'
import { raw } from '../support/raw.ts'
import { newFolder, startApp } from '../support/server.ts'

t.setTimeout(300_000)

const run = promisify(execFile)

const noTar = spawnSync('tar', ['--version']).status === 0 ? {} : { skip: 'no tar here' }

// Made by test/fixtures/make-poisoned.mjs.
const poisoned = 'test/fixtures/poisoned-by-db789d8.tar.gz'

const extracted = async (t: Test) => {
  const DATA_DIR = await newFolder(t)
  await run('tar', ['-xSzf', poisoned, '-C', DATA_DIR])
  const fixture = JSON.parse(readFileSync(join(DATA_DIR, 'made.json'), 'utf8'))
  const { key, organizationId, ownerId }: Record<string, string> = fixture
  return { env: { DATA_DIR }, key: `${key}`, organizationId, ownerId }
}

/** The number in a field of an event's data. */
const numberIn = ({ data }: RecordedEvent, field: string): number =>
  Number(Reflect.get(Object(data), field))

t.test('reads what an unchecked release stored beyond its schemas', noTar, async (t) => {
  const { env } = await extracted(t)
  const events = await withLog(env, allEvents)
  const some = (type: string, field: string, isBeyond: (value: number) => boolean) =>
    events.some((event) => event.type === type && isBeyond(numberIn(event, field)))
  for (const type of ['RunCompleted', 'AgentCompleted', 'ToolCompleted'])
    t.ok(
      some(type, 'durationMs', (value) => value < 0),
      `${type}: a negative duration`,
    )
  for (const [type, field] of [
    ['CreditsReserved', 'amount'],
    ['CreditsSettled', 'amount'],
    ['RunCompleted', 'charge'],
  ] as const)
    t.ok(
      some(type, field, (value) => value > Number.MAX_SAFE_INTEGER),
      `${type}: an amount beyond exact numbers`,
    )
})

t.test(
  'a data folder that was poisoned opens healthy, and all of it can be read',
  noTar,
  async (t) => {
    const { env, key, organizationId, ownerId } = await extracted(t)
    const server = await startApp(t, env)
    const ready = await raw(server.url)('/api/health/ready')
    t.match(ready, {
      status: 200,
      body: { status: 'ok', checks: { unreadable_events: { ok: true } } },
    })
    const own = server.as(key)
    for (const session of ['usual', 'clock', 'parameter', 'provider'])
      t.match((await contents(own, session)).length, /[23]/, session)
    const at = `/organizations/${organizationId}`
    const state = (view: string) => server.platform.ask('GET', `${at}/audit/state?view=${view}`)
    for (const view of readModels.keys())
      t.equal((await state(view)).unreadable_events, undefined, `${view} lacks nothing`)
    for (const { document } of (await state('runs')).documents) {
      t.ok(document.duration_ms >= 0)
      t.ok(Number.isFinite(document.charge))
    }
    await server.platform.balanceOf(`${ownerId}`)
    const reply = await own.chat({ messages: user('Hi'), session_id: 'usual' })
    t.match(reply, { status: 402, body: { error: { code: 'insufficient_credits' } } })
    // The first has the owner of the fixture's organization, who has no credits left.
    await server.platform.organization()
    const other = await (await server.platform.organization()).key()
    t.equal((await server.as(other.key).chat({ messages: user('Hi') })).status, 200)
    for (const { name } of projections)
      await server.platform.ask('POST', `/projections/${name}/rebuild`)
    await eventually(async () => {
      const { projections: all } = await server.platform.ask('GET', '/projections')
      return all.every(({ state, error }: Record<string, string>) => state === 'running' && !error)
    })
  },
)

t.test('rebuilds its read models once, after the upgrade', noTar, async (t) => {
  const { env } = await extracted(t)
  const server = await startApp(t, env)
  const differences = async () => {
    await server.stop()
    const local = await localProjections(env)
    const differences = []
    for (const { name } of projections) differences.push(...(await local.verify(name)).differences)
    await local.close()
    return differences
  }
  await eventually(async () => {
    if ((await differences()).length === 0) return true
    await server.restart()
    return false
  })
  t.strictSame(await differences(), [])
})
