import fc from 'fast-check'
import t from 'tap'
import { eventIndex } from '../../projections/event-index.ts'
import { type HistoryQuery, type ReadHistory, readHistory } from '../../queries/read-history.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { batchFolder } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { heldLog, historyOn, indexIn } from '../support/held-log.ts'
import {
  anyPart,
  anyTime,
  appendInTurn,
  longHistory,
  placeIn,
  sometimes,
} from '../support/long-history.ts'
import { gathered } from '../support/noted.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { batchOf, metadata, recorded } from '../support/recorded.ts'

/** What is read; that it is told in order, and how far it goes. */
const readAll = async (read: ReadHistory, query: HistoryQuery) => {
  const events: RecordedEvent[] = []
  let reached = query.after
  for await (const batch of read(query)) {
    if (batch.position < reached) throw new Error(`${batch.position} comes after ${reached}`)
    events.push(...batch.events)
    reached = batch.position
  }
  return { positions: events.map(({ position }) => position), reached }
}

/** The same in the plainest way. */
const plainly = (log: readonly RecordedEvent[], query: HistoryQuery) =>
  log
    .filter(({ position, metadata }) => {
      const time = Date.parse(metadata.at)
      return (
        metadata.organization_id === query.organizationId &&
        position > query.after &&
        position <= (query.upTo ?? position) &&
        time >= (query.from ?? time) &&
        time < (query.to ?? time + 1)
      )
    })
    .map(({ position }) => position)

const anyAsk = fc.record({
  after: anyPart,
  upTo: sometimes(anyPart),
  from: sometimes(anyTime),
  to: sometimes(anyTime),
})

t.test('the events of an organization in order, once each, however much is indexed', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      longHistory,
      anyPart,
      anyAsk,
      async (log, indexed, { after, upTo, ...time }) => {
        const read = await historyOn(heldLog(log), placeIn(log, indexed))
        const query = {
          organizationId: 'org-1',
          after: at(placeIn(log, after)),
          upTo: upTo === undefined ? undefined : at(placeIn(log, upTo)),
          ...time,
        }
        t.strictSame((await readAll(read, query)).positions, plainly(log, query))
      },
    ),
    { numRuns: 200 },
  )
})

for (const gap of [0, 7])
  t.test(`so on the embedded store, gaps of ${gap}`, async (t) => {
    const { store } = await opened(t, { gap })
    await appendInTurn(store)
    const log = await gathered(store.history(START))
    await fc.assert(
      fc.asyncProperty(anyPart, anyPart, sometimes(anyPart), async (indexed, after, upTo) => {
        const read = await historyOn(store, placeIn(log, indexed))
        const query = {
          organizationId: 'org-2',
          after: at(placeIn(log, after)),
          upTo: upTo === undefined ? undefined : at(placeIn(log, upTo)),
        }
        t.strictSame((await readAll(read, query)).positions, plainly(log, query))
      }),
      // The end lies between two events: what is read last holds none.
      { numRuns: 40, examples: [[0, 0, 0.005484460694698354]] },
    )
  })

t.test('it says how far it went: to what was asked for, or to the head', async (t) => {
  const log = recorded([{ stream: 'box-org-1_b-1', type: 'BoxOpened', data: {}, position: 40 }])
  const read = await historyOn(heldLog(log))
  const reached = async (after: number, upTo?: number) =>
    (
      await readAll(read, {
        organizationId: 'org-2',
        after: at(after),
        upTo: upTo === undefined ? undefined : at(upTo),
      })
    ).reached
  t.equal(await reached(-1), at(40))
  t.equal(await reached(-1, 7), at(7))
  t.equal(await reached(-1, 70), at(40))
  t.equal(await reached(90), at(90))
})

t.test(
  'each batch says how far it has looked: to its last event, the last one to the head',
  async (t) => {
    const log = recorded(
      Array.from({ length: 40 }, (_, n) => ({
        stream: `box-org-${1 + (n % 2)}_b-1`,
        type: 'BoxOpened',
        data: {},
        metadata: { ...metadata, organization_id: `org-${1 + (n % 2)}` },
        position: 3 * n,
      })),
    )
    for (const indexed of [0, 20, 40]) {
      const read = await historyOn(heldLog(log), indexed)
      const batches = []
      for await (const batch of read({ organizationId: 'org-1', after: START })) batches.push(batch)
      for (const { events, position, looked } of batches.slice(0, -1)) {
        t.ok(looked >= events.length, `${looked} events were looked at`)
        t.ok((events.at(-1)?.position ?? position) <= position)
      }
      t.equal(
        batches.reduce((sum, { events }) => sum + events.length, 0),
        20,
      )
      t.strictSame(batches.at(-1), { events: [], position: at(117), looked: 0 })
      const complete = batches.filter(
        ({ events, looked }) => events.length === looked && looked > 0,
      )
      for (const { events, position } of complete) t.equal(position, events.at(-1)?.position)
    }
  },
)

t.test('history can be read while a commit of the index is being stored', async (t) => {
  const log = recorded(
    Array.from({ length: 900 }, (_, n) => ({
      stream: 'box-org-1_b-1',
      type: 'BoxOpened',
      data: {},
      position: 3 * n,
    })),
  )
  const store = memoryProjectionStore(eventIndex)
  const fold = batchFolder([eventIndex])
  const first = batchOf(log.slice(0, 200))
  const projection = eventIndex
  await store.commit(await fold(store, [{ projection, position: START }], first))
  const documents = new Map(store.documents)
  const rest = [{ projection, position: first.position }]
  const commits = await fold(store, rest, batchOf(log.slice(200)))
  for (const { id, document } of commits.flatMap(({ changes }) => changes)) {
    if (document) documents.set(id, document)
    const index = indexIn(documents)
    const read = readHistory({
      store: heldLog(log),
      eventIndex: index,
      indexed: () => first.position,
    })
    const query = { organizationId: 'org-1', after: at(100) }
    t.strictSame((await readAll(read, query)).positions, plainly(log, query))
  }
})
