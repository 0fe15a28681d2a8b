import t, { type Test } from 'tap'
import { keyUsageMeter } from '../../src/metering/key-usage-meter.ts'
import { START } from '../../src/ports/event-store.ts'
import { commanded } from '../support/commanded.ts'
import { apiKeySettings } from '../support/key-settings.ts'
import { platformCall } from '../support/recorded.ts'

/** An organization; its owner calls. */
const scene = async (t: Test) => {
  const all = await commanded(t)
  const owner = { email: 'owner@example.com' }
  const organization = await all.createOrganization({ name: 'Acme', owner }, platformCall)
  const { organizationId, ownerUserId } = organization
  const as = (userId: string) => ({ ...platformCall, organizationId, userId })
  return { ...all, organizationId, ownerUserId, as }
}

/** What a key of the organization may, but for which one it is. */
const accessIn = ({
  organizationId,
  ownerUserId,
}: {
  organizationId: string
  ownerUserId: string
}) =>
  ({
    kind: 'organization',
    organizationId,
    userId: ownerUserId,
    role: 'OWNER',
    scopes: new Set<string>(),
    keyScopes: new Set<string>(),
    limits: { minute: 100, hour: 100 },
    plan: null,
  }) as const

t.test('requests are counted in batches', async (t) => {
  const { createApiKey, recordKeyUsage, clock, as, ownerUserId, organizationId, read, seen } =
    await scene(t)
  const { keyId } = await createApiKey(apiKeySettings, as(ownerUserId))
  const access = { ...accessIn({ organizationId, ownerUserId }), keyId }
  let broken = true
  const meter = keyUsageMeter({
    clock,
    everyMs: 3_600_000,
    record: (usage, call) => {
      if (broken) throw new Error('the disk is full')
      return recordKeyUsage(usage, call)
    },
  })
  for (let n = 0; n < 3; n++) meter.count(access)
  meter.count({ ...access, kind: 'platform', keyId: null })
  await meter.flush()
  broken = false
  meter.count(access)
  await meter.close()
  await seen()
  const view = await read.apiKeys.get(keyId)
  t.equal(view?.request_count, 4, 'what could not be written was kept')
  t.match(view?.last_used_at, /^2026-01-01T/)
})

t.test('the counts of many keys are written a handful at a time', async (t) => {
  const { clock, ...owned } = await scene(t)
  const access = accessIn(owned)
  const keyIds = new Set<string>()
  let writing = 0
  let most = 0
  const meter = keyUsageMeter({
    clock,
    everyMs: 3_600_000,
    async record({ keyId }) {
      most = Math.max(most, ++writing)
      await new Promise(setImmediate)
      writing--
      keyIds.add(keyId)
      return { position: START }
    },
  })
  for (let n = 0; n < 500; n++) meter.count({ ...access, keyId: `key-${n}` })
  await meter.close()
  t.equal(keyIds.size, 500)
  t.ok(most <= 5, `${most} at once`)
})

t.test('keys that were first used together are not all written together', async (t) => {
  const access = accessIn(await scene(t))
  let now = 0
  const keyIds: string[] = []
  let tick = () => {}
  const meter = keyUsageMeter({
    clock: { now: () => new Date(now), monotonic: () => now, id: () => 'id' },
    everyMs: 5_000,
    every: (work) => {
      tick = work
      return () => {}
    },
    record: async ({ keyId }) => {
      keyIds.push(keyId)
      return { position: START }
    },
  })
  const later = async (ms: number) => {
    now += ms
    tick()
    await new Promise(setImmediate)
  }
  for (let n = 0; n < 1_000; n++) meter.count({ ...access, keyId: `key-${n}` })
  await later(4_750)
  t.equal(keyIds.length, 0, 'a key is written when it has waited for five seconds')
  await later(250)
  t.equal(keyIds.length, 10)
  await later(50)
  t.equal(keyIds[0], 'key-0')
  t.ok(keyIds.length > 10 && keyIds.length < 30)
  await meter.close()
  t.equal(new Set(keyIds).size, 1_000)
})

t.test('a count is written in time though the clock is set back by an hour', async (t) => {
  const access = accessIn(await scene(t))
  let passed = 0
  let wall = Date.UTC(2026, 0, 1)
  const keyIds: string[] = []
  let tick = () => {}
  const meter = keyUsageMeter({
    clock: { now: () => new Date(wall), monotonic: () => passed, id: () => 'id' },
    everyMs: 5_000,
    every: (work) => {
      tick = work
      return () => {}
    },
    record: async ({ keyId }) => {
      keyIds.push(keyId)
      return { position: START }
    },
  })
  meter.count({ ...access, keyId: 'key-1' })
  wall -= 3_600_000
  passed += 5_000
  tick()
  await new Promise(setImmediate)
  t.strictSame(keyIds, ['key-1'])
  await meter.close()
})
