import t from 'tap'
import { projections } from '../../projections/all.ts'
import type { UnreadableEventView } from '../../projections/unreadable-events.ts'
import { readModelRepair } from '../../src/app/read-model-repair.ts'
import { readingVersion } from '../../src/domain/versions.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import type { Snapshot } from '../../src/ports/snapshots.ts'
import { sample } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { at } from '../support/positions.ts'
import { recorded } from '../support/recorded.ts'

type Listed = Pick<UnreadableEventView, 'unreadable' | 'repaired'>

/** One event of a session at position 5, listed so, in read models that stand at a position. */
const scene = (listed: Listed, data: unknown, { stands = 9, version = '' } = {}) => {
  const type = 'RunCompleted'
  const stream = 'session-org-1_s'
  const [event] = recorded([{ stream, type, data, position: 5 }]) as [RecordedEvent]
  const place = { position: at(5), organization_id: 'org-1', stream, revision: 0, type }
  const view = { ...place, reason: 'so', ...listed }
  const snapshots = new Map<string, Snapshot>()
  const name = 'how stored events are read'
  if (version) snapshots.set(name, { revision: 0, version: 1, state: version })
  const rebuilt: string[] = []
  let leads = true
  const repair = readModelRepair({
    store: {
      head: async () => at(9),
      async *at(positions) {
        for await (const some of positions) if (some.length > 0) yield [event]
      },
    },
    projections,
    unreadableEvents: {
      async find({ index }) {
        const items = Reflect.get(view, index) ? [view] : []
        return { items, total: items.length }
      },
    },
    checkpoint: async () => at(stands),
    isLater: (readModel) => readModel === 'usage',
    snapshots: {
      get: async (key) => snapshots.get(key),
      put: async (key, snapshot) => void snapshots.set(key, snapshot),
    },
    projecting: {
      holds: () => leads,
      waitForPosition: async () => true,
      rebuild: async (readModel) => void rebuilt.push(readModel),
    },
    log: silent,
    everyMs: 1,
  })
  t.teardown(repair.close)
  return {
    rebuilt,
    isMarked: () => snapshots.get(name)?.state === readingVersion(),
    lead: (now: boolean) => {
      leads = now
    },
    async start() {
      await repair.look()
      repair.begin()
    },
    close: repair.close,
  }
}

const { data } = sample('RunCompleted')

t.test(
  'an event that is now readable is folded into the read models of its category',
  async (t) => {
    const scenario = scene({ unreadable: true }, data, { version: readingVersion() })
    await scenario.start()
    await eventually(async () => scenario.rebuilt.at(-1) === 'unreadable_events')
    for (const name of ['sessions', 'runs', 'messages', 'usage'])
      t.ok(scenario.rebuilt.includes(name))
    for (const name of ['members', 'event_index', 'transparency'])
      t.notOk(scenario.rebuilt.includes(name), `${name} has nothing of it`)
  },
)

t.test('an event that is still unreadable causes no rebuild', async (t) => {
  const scenario = scene({ unreadable: true }, null)
  await scenario.start()
  await eventually(async () => scenario.isMarked())
  t.strictSame(scenario.rebuilt, [])
})

t.test(
  'a read model that another release folded has repaired events folded again, once',
  async (t) => {
    const scenario = scene({ repaired: true }, { ...Object(data), durationMs: -1 })
    await scenario.start()
    await eventually(async () => scenario.isMarked())
    t.ok(scenario.rebuilt.includes('runs'))
    t.notOk(scenario.rebuilt.includes('unreadable_events'))
    const same = scene({ repaired: true }, data, { version: readingVersion() })
    await same.start()
    await same.close()
    t.strictSame(same.rebuilt, [])
  },
)

t.test('a read model that stopped before a repaired event is not rebuilt', async (t) => {
  const scenario = scene({ repaired: true }, data, { stands: 4 })
  await scenario.start()
  await eventually(async () => scenario.isMarked())
  t.strictSame(scenario.rebuilt, [])
  const fresh = scene({ repaired: true }, data, { stands: START })
  await fresh.start()
  await eventually(async () => fresh.isMarked())
  t.strictSame(fresh.rebuilt, [])
})

t.test('the projecting node rebuilds, also if it becomes leader later', async (t) => {
  const scenario = scene({ unreadable: true }, data)
  scenario.lead(false)
  await scenario.start()
  t.strictSame(scenario.rebuilt, [])
  scenario.lead(true)
  await eventually(async () => scenario.isMarked())
  t.ok(scenario.rebuilt.includes('runs'))
})
