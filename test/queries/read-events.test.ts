import fc from 'fast-check'
import t, { type Test } from 'tap'
import { exportLines } from '../../queries/export-lines.ts'
import { getEntries } from '../../queries/get-entries.ts'
import { readEvents } from '../../queries/read-events.ts'
import { readHistory as readHistoryFrom } from '../../queries/read-history.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { lineOf } from '../../src/transparency/leaf.ts'
import { foldLog, treesIn } from '../support/folded-trees.ts'
import { eventIndexOf, heldLog, historyOn } from '../support/held-log.ts'
import { longHistory, placeIn } from '../support/long-history.ts'
import { gathered } from '../support/noted.ts'
import { opened } from '../support/opened.ts'
import { metadata, recorded } from '../support/recorded.ts'

const exported = async (t: Test, gap: number) => {
  const { store } = await opened(t, { gap })
  let eventCount = 0
  const append = (organization_id: string, count: number) =>
    store.append(
      `box-${organization_id}_b-1`,
      'any',
      Array.from({ length: count }, () => ({
        id: `event-${eventCount++}`,
        type: 'BoxOpened',
        data: { n: eventCount },
        metadata: { ...metadata, organization_id },
      })),
    )
  for (const others of [0, 2_500, 1, 400, 3_000]) {
    if (others > 0) await append('org-2', others)
    await append('org-1', 90)
  }
  const log = await gathered(store.history(START))
  const readTree = treesIn(await foldLog(log, [100]))
  const own = log.filter(({ stream }) => stream.startsWith('box-org-1'))
  const text = (events: readonly RecordedEvent[]) =>
    events.map((event) => `${lineOf(event)}\n`).join('')

  const { eventIndex } = await eventIndexOf(store)
  const reading = readEvents({
    eventsAt: store.at,
    eventIndex,
    readHistory: await historyOn(store),
  })
  const uses = { readTree, readEvents: reading }
  const lines = async (from: number, to?: number) => {
    let text = ''
    for await (const part of await exportLines(uses)('org-1', from, to)) text += part
    return text
  }
  t.equal(await lines(0), text(own))
  t.equal(await lines(85, 275), text(own.slice(85, 275)))
  t.equal(await lines(450), '')
  const bundle = await getEntries(uses)('org-1', { n: 1, width: 194 })
  t.equal(bundle.length, 2 * 194 + Buffer.byteLength(text(own.slice(256))) - 194)

  const missing = own[100]?.position
  const damaged = heldLog(log.filter(({ position }) => position !== missing))
  const readHistory = await historyOn(damaged)
  const bundles = getEntries({
    readTree,
    readEvents: readEvents({ eventsAt: damaged.at, eventIndex, readHistory }),
  })
  await t.rejects(bundles('org-1', { n: 0, width: 256 }), {
    name: 'StoreDamaged',
    message: `no event at position ${missing}`,
  })
}

for (const gap of [0, 7])
  t.test(`the events of an organization are found among those of others, gaps of ${gap}`, (t) =>
    exported(t, gap),
  )

const reading = async (log: readonly RecordedEvent[], indexed?: number) => {
  const store = heldLog(log)
  const index = await eventIndexOf(store, indexed)
  const readHistory = readHistoryFrom({ store, ...index })
  return readEvents({ eventsAt: store.at, eventIndex: index.eventIndex, readHistory })
}

t.test('events by index, however much is indexed', async (t) => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(longHistory, part, part, part, async (log, indexed, left, right) => {
      const own = log.filter(({ metadata }) => metadata.organization_id === 'org-1')
      const [from = 0, to = 0] = [left, right]
        .map((part) => Math.round(part * own.length))
        .sort((a, b) => a - b)
      const read = await reading(log, placeIn(log, indexed))
      t.strictSame(await gathered(read('org-1', from, to)), own.slice(from, to))
    }),
    { numRuns: 150 },
  )
})

t.test('events that the log does not show yet', async (t) => {
  const events = { stream: 'box-org-1_b-1', type: 'BoxOpened', data: {} }
  const log = recorded(Array.from({ length: 3 }, () => events))
  for (const indexed of [-1, 1, 2]) {
    const read = await reading(log, indexed)
    t.equal((await gathered(read('org-1', 0, 3))).length, 3)
    await t.rejects(gathered(read('org-1', 0, 4)), { name: 'StoreUnavailable' })
  }
})
