import fc from 'fast-check'
import t from 'tap'
import { recordRefusal } from '../../commands/record-refusal.ts'
import { findPosition } from '../../queries/find-position.ts'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { accountStream, decideGrant } from '../../src/domain/account/account.ts'
import { appendTimes } from '../../src/event-sourcing/append-times.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import { refusalMeter } from '../../src/metering/refusal-meter.ts'
import { START } from '../../src/ports/event-store.ts'
import { anyHistory, recordedHistory } from '../support/any-history.ts'
import { eventIndexOf, heldLog, historyOn } from '../support/held-log.ts'
import { anyTime, longHistory, placeIn } from '../support/long-history.ts'
import { call } from '../support/recorded.ts'

const timePassed = async () => undefined

t.test('a time is the place of the last event before the first later one', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: -100, max: 2_600 }),
      async (history, part, seconds) => {
        const log = recordedHistory(history)
        const store = heldLog(log)
        const index = await eventIndexOf(store, Math.floor((log.at(-1)?.position ?? 0) * part))
        const readHistory = await historyOn(store, index.indexed())
        const time = Date.UTC(2026, 0, 1) + seconds * 1_000
        const find = findPosition({ readHistory, eventsAt: store.at, timePassed, ...index })
        const own = log.filter(({ metadata }) => metadata.organization_id === 'org-1')
        const later = own.findIndex(({ metadata }) => Date.parse(metadata.at) > time)
        const before = later < 0 ? own : own.slice(0, later)
        t.equal(await find('org-1', time), before.at(-1)?.position ?? START)
      },
    ),
    { numRuns: 150 },
  )
})

t.test('so in a history of many stretches', async (t) => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(longHistory, part, anyTime, async (log, indexed, time) => {
      const store = heldLog(log)
      const index = await eventIndexOf(store, placeIn(log, indexed))
      const readHistory = await historyOn(store, index.indexed())
      const find = findPosition({ readHistory, eventsAt: store.at, timePassed, ...index })
      const own = log.filter(({ metadata }) => metadata.organization_id === 'org-1')
      const later = own.findIndex(({ metadata }) => Date.parse(metadata.at) > time)
      const before = later < 0 ? own : own.slice(0, later)
      t.equal(await find('org-1', time), before.at(-1)?.position ?? START)
    }),
    { numRuns: 150 },
  )
})

t.test('a long history is found by its stretches', async (t) => {
  const seconds = (n: number) => (n === 700 ? 2_000 : n)
  const log = recordedHistory(
    Array.from({ length: 1_000 }, (_, n) => ({
      kind: { category: 'session', type: 'SessionErased' },
      organization: 1,
      stream: 1,
      gap: 1,
      seconds: seconds(n) - n * 20,
    })),
  )
  const store = heldLog(log)
  for (const reach of [-1, 300, 511, 512, 700, 999]) {
    const index = await eventIndexOf(store, reach)
    const readHistory = await historyOn(store, reach)
    const find = findPosition({ readHistory, eventsAt: store.at, timePassed, ...index })
    const positionAt = async (second: number) =>
      find('org-1', Date.UTC(2026, 0, 1) + second * 1_000)
    for (const [second, position] of [
      [-1, -1],
      [0, 0],
      [255, 255],
      [256, 256],
      [511, 511],
      [699, 699],
      [700, 699],
      [1_999, 699],
      [2_000, 999],
    ] as const)
      t.equal(await positionAt(second), position, `${second} s, indexed to ${reach}`)
  }
})

type Step =
  | { do: 'wait' | 'refuse'; seconds: number }
  | { do: 'grant' | 'sweep'; seconds: number }
  | { do: 'ask'; ago: number; seconds: number }

const seconds = fc.integer({ min: -30, max: 40 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constantFrom('wait' as const, 'refuse' as const), seconds }),
    fc.record({ do: fc.constantFrom('grant' as const, 'sweep' as const), seconds }),
    fc.record({ do: fc.constant('ask' as const), ago: fc.nat({ max: 90 }), seconds }),
  ),
  { minLength: 5, maxLength: 40 },
)

t.test('a time once asked for keeps its answer, whatever is appended later', async (t) => {
  const log = await openLog({ path: t.testdir() })
  t.teardown(() => log.close())
  const store = embeddedEventStore(log)
  let now = Date.UTC(2026, 0, 1)
  let count = 0
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const organizationId = `org-${++count}`
      const clock = {
        now: () => new Date(now),
        monotonic: () => now,
        id: () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`,
      }
      const times = appendTimes(clock)
      const snapshots = { get: async () => undefined, put: async () => undefined }
      const { transact } = transactor({ store, snapshots, clock, times })
      const record = recordRefusal({ transact })
      const newMeter = () => refusalMeter({ record, clock, sweepMs: 3_600_000 })
      let meter = newMeter()
      const byCall = () => ({ ...call, organizationId, at: clock.now().toISOString() })
      const index = await eventIndexOf(store, -1)
      const readHistory = await historyOn(store, -1)
      const find = findPosition({
        readHistory,
        eventsAt: store.at,
        timePassed: times.passed,
        ...index,
      })
      const pending: Promise<unknown>[] = []
      const lookups: { time: number; answer: Promise<number> }[] = []
      for (const step of steps) {
        now += step.seconds * 1_000
        if (step.do === 'refuse')
          meter.refused({
            code: 'insufficient_scopes',
            status: 403,
            call: byCall(),
            method: 'GET',
            route: '/',
            askedFor: undefined,
          })
        if (step.do === 'grant') {
          const grant = decideGrant({ grantId: clock.id(), amount: 1, reason: 'test' })
          pending.push(transact(accountStream(organizationId), grant, byCall()))
        }
        if (step.do === 'sweep') {
          pending.push(meter.close())
          meter = newMeter()
        }
        if (step.do === 'ask') {
          const time = now - step.ago * 1_000
          lookups.push({ time, answer: find(organizationId, time) })
        }
      }
      pending.push(meter.close())
      await Promise.all(pending)
      for (const { time, answer } of lookups)
        t.equal(await find(organizationId, time), await answer)
      let latest = ''
      for await (const { events } of readHistory({ organizationId, after: START }))
        for (const { metadata } of events) {
          t.ok(metadata.at >= latest, 'times never go back')
          latest = metadata.at
        }
    }),
    { numRuns: 30 },
  )
})
