import fc from 'fast-check'
import t from 'tap'
import { eventIndex } from '../../projections/event-index.ts'
import {
  type DescendingQuery,
  type ReadHistoryDescending,
  readHistoryDescending,
} from '../../queries/read-history-descending.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { batchFolder } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { descendingOn, heldLog, indexIn } from '../support/held-log.ts'
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

const readAll = async (read: ReadHistoryDescending, query: DescendingQuery) => {
  const positions: number[] = []
  let looked = 0
  let reached: number = Infinity
  for await (const batch of read(query)) {
    if (batch.position > reached) throw new Error('a batch ends after the one before it')
    for (const { position } of batch.events) {
      if (position >= reached || position < batch.position)
        throw new Error(`${position} is not between ${batch.position} and ${reached}`)
      positions.push(position)
    }
    reached = batch.position
    looked += batch.looked
  }
  return { positions, reached, looked }
}

/** The same in the plainest way. */
const plainly = (log: readonly RecordedEvent[], query: DescendingQuery) =>
  log
    .filter(({ position, metadata }) => {
      const time = Date.parse(metadata.at)
      return (
        metadata.organization_id === query.organizationId &&
        position < (query.before ?? Infinity) &&
        time >= (query.from ?? time) &&
        time < (query.to ?? time + 1)
      )
    })
    .map(({ position }) => position)
    .toReversed()

const anyAsk = fc.record({
  before: sometimes(anyPart),
  from: sometimes(anyTime),
  to: sometimes(anyTime),
})

t.test('the events of an organization, the newest first, however much is indexed', async (t) => {
  await fc.assert(
    fc.asyncProperty(longHistory, anyPart, anyAsk, async (log, indexed, { before, ...time }) => {
      const read = await descendingOn(heldLog(log), placeIn(log, indexed))
      const query = {
        organizationId: 'org-1',
        before: before === undefined ? undefined : at(placeIn(log, before)),
        ...time,
      }
      const { positions, reached } = await readAll(read, query)
      t.strictSame(positions, plainly(log, query))
      t.equal(reached, START)
    }),
    { numRuns: 200 },
  )
})

for (const gap of [0, 7])
  t.test(`so on the embedded store, gaps of ${gap}`, async (t) => {
    const { store } = await opened(t, { gap })
    await appendInTurn(store)
    const log = await gathered(store.history(START))
    await fc.assert(
      fc.asyncProperty(anyPart, sometimes(anyPart), async (indexed, before) => {
        const read = await descendingOn(store, placeIn(log, indexed))
        const query = {
          organizationId: 'org-2',
          before: before === undefined ? undefined : at(placeIn(log, before)),
        }
        t.strictSame((await readAll(read, query)).positions, plainly(log, query))
      }),
      { numRuns: 40 },
    )
  })

const boxes = (count: number, more: (n: number) => object = () => ({})) =>
  recorded(
    Array.from({ length: count }, (_, n) => ({
      stream: 'box-org-1_b-1',
      type: 'BoxOpened',
      data: {},
      position: 3 * n,
      metadata: { ...metadata, organization_id: 'org-1', ...more(n) },
    })),
  )

t.test('the first batch reads the last 64 events, and no more', async (t) => {
  const store = heldLog(boxes(900))
  const read = await descendingOn(store)
  store.log.read = 0
  for await (const { events } of read({ organizationId: 'org-1' })) {
    if (events.length === 0) continue
    t.equal(events[0]?.position, 2_697)
    break
  }
  t.ok(store.log.read <= 64, `${store.log.read} events were read`)
})

t.test('a range of time reads its own stretches, and ends before older ones', async (t) => {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 256))).toISOString()
  const store = heldLog(boxes(256 * 40, (n) => ({ at: day(n) })))
  const read = await descendingOn(store)
  store.log.read = 0
  const from = Date.UTC(2026, 0, 30)
  const { positions, looked } = await readAll(read, {
    organizationId: 'org-1',
    from,
    to: from + 1,
  })
  t.equal(positions.length, 256)
  t.equal(store.log.read, 256)
  t.equal(looked, 256 + 10, 'one for each of ten newer stretches')
})

t.test('more than 10,000 events that are not indexed end the search', async (t) => {
  const log = boxes(11_500)
  const store = heldLog(log)
  const read = await descendingOn(store, 3 * 100)
  await t.rejects(readAll(read, { organizationId: 'org-1' }), { name: 'StoreUnavailable' })
  t.ok(store.log.read <= 12_000, `${store.log.read} events were read`)
  t.equal((await readAll(read, { organizationId: 'org-1', before: at(30) })).positions.length, 10)
  const mostly = await descendingOn(heldLog(log), 3 * 2_000)
  t.equal((await readAll(mostly, { organizationId: 'org-1' })).positions.length, 11_500)
})

t.test('history can be read while a commit of the index is being stored', async (t) => {
  const log = boxes(900)
  const projection = eventIndex
  const store = memoryProjectionStore(projection)
  const fold = batchFolder([projection])
  const first = batchOf(log.slice(0, 200))
  await store.commit(await fold(store, [{ projection, position: START }], first))
  const documents = new Map(store.documents)
  const rest = [{ projection, position: first.position }]
  const commits = await fold(store, rest, batchOf(log.slice(200)))
  for (const { id, document } of commits.flatMap(({ changes }) => changes)) {
    if (document) documents.set(id, document)
    const indexed = () => first.position
    const read = readHistoryDescending({
      store: heldLog(log),
      eventIndex: indexIn(documents),
      indexed,
    })
    for (const before of [undefined, at(400)]) {
      const query = { organizationId: 'org-1', before }
      t.strictSame((await readAll(read, query)).positions, plainly(log, query))
    }
  }
})
