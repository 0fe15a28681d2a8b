import fc from 'fast-check'
import t from 'tap'
import {
  type EventIndexView,
  eventIndex,
  stretchId,
  stretchLength,
} from '../../projections/event-index.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { START } from '../../src/ports/event-store.ts'
import { batchFolder } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { foldLog } from '../support/folded-trees.ts'
import { projecting } from '../support/given.ts'
import { eventIndexOf, heldLog } from '../support/held-log.ts'
import { at } from '../support/positions.ts'
import { batchOf, metadata, recorded } from '../support/recorded.ts'
import { foldedOneByOne } from '../support/sequential-feed.ts'

/** Events of these organizations in turn, at positions with gaps, their times not in order. */
const log = (length: number, ...organizations: string[]) =>
  recorded(
    Array.from({ length }, (_, n) => {
      const organization_id = organizations[n % organizations.length] ?? 'org-1'
      const at = new Date(Date.UTC(2026, 0, 1) + ((n * 7) % 50) * 1_000).toISOString()
      return {
        stream: `box-${organization_id}_b-1`,
        type: 'BoxOpened',
        data: { owner: 'ann' },
        position: n * 3,
        metadata: { ...metadata, organization_id, at },
      }
    }),
  )

const opened = (position: number, at?: string) => ({
  type: 'BoxOpened',
  data: {},
  position,
  ...(at ? { at } : {}),
})
const openedTimes = (count: number) => Array.from({ length: count }, (_, n) => opened(10 * n))
const positions = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => at(10 * (from + n)))

t.test('a stretch holds the positions of its events, in order', async (t) => {
  const seen = projecting(t, eventIndex, 'box-org-1_b-1')
  seen(opened(4), opened(9), opened(500_000)).shows(
    {
      organization_id: 'org-1',
      events_before: 0,
      first: at(4),
      positions: [at(4), at(9), at(500_000)],
    },
    'org-1',
  )
})

t.test('a full stretch is left behind when the next begins', async (t) => {
  const seen = projecting(t, eventIndex, 'box-org-1_b-1')
  const full = { events_before: 0, first: at(0), positions: positions(0, stretchLength) }
  seen(...openedTimes(stretchLength)).shows(full, 'org-1')
  seen(...openedTimes(stretchLength)).showsNothing(stretchId('org-1', 0))
  const more = seen(...openedTimes(stretchLength + 2))
  more.shows(full, stretchId('org-1', 0))
  more.shows(
    {
      events_before: stretchLength,
      first: at(10 * stretchLength),
      positions: positions(stretchLength, stretchLength + 2),
    },
    'org-1',
  )
})

t.test('no event of a stretch is from before or after its times', async (t) => {
  const seen = projecting(t, eventIndex, 'box-org-1_b-1')
  const time = (text: string) => Date.parse(`2026-01-01T${text}Z`)
  const events = [
    opened(0, '2026-01-01T00:01:00.000Z'),
    opened(1, '2026-01-01T00:02:01.007Z'),
    opened(2, '2026-01-01T00:00:30.000Z'),
    opened(3, '2026-01-01T00:01:30.000Z'),
  ]
  seen(...events).shows({ since: time('00:00:30.000'), until: time('00:02:01.007') }, 'org-1')
  seen(...events.slice(0, 1)).shows({ since: time('00:01:00'), until: time('00:01:00') }, 'org-1')
})

t.test('positions by index are those of the log', async (t) => {
  for (const length of [1, 255, 256, 257, 512, 1_400]) {
    const events = log(3 * length, 'org-1', 'platform', 'org-2')
    const { eventIndex } = await eventIndexOf(heldLog(events))
    for (const organization of ['org-1', 'org-2', 'platform']) {
      const query = { index: 'by_organization', equals: [organization], from: START }
      const { items } = await eventIndex.find({ ...query, limit: 100 })
      const own = events.filter(({ metadata }) => metadata.organization_id === organization)
      t.strictSame(
        items.flatMap(({ positions }: EventIndexView) => positions),
        own.map(({ position }) => position),
      )
      t.strictSame(
        items.map(({ events_before }: EventIndexView) => events_before),
        items.map((_, n) => n * stretchLength),
      )
    }
  }
})

t.test('batches cut anywhere give the same documents', async (t) => {
  const events = log(1_700, 'org-1', 'org-1', 'org-2')
  const plain = foldedOneByOne(eventIndex, events)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 6 }),
      async (lengths) => {
        const documents = await foldLog(events, lengths, eventIndex)
        t.strictSame(Object.fromEntries([...documents].sort()), plain)
      },
    ),
    { numRuns: 25 },
  )
})

/** How often each document is written. */
const writesOf = async (events: readonly RecordedEvent[], length: number) => {
  const store = memoryProjectionStore(eventIndex)
  const fold = batchFolder([eventIndex])
  const writes = new Map<string, number>()
  for (let from = 0; from < events.length; from += length) {
    const position = events[from - 1]?.position ?? START
    const batch = batchOf(events.slice(from, from + length))
    const commits = await fold(store, [{ projection: eventIndex, position }], batch)
    await store.commit(commits)
    for (const { id } of commits.flatMap(({ changes }) => changes))
      writes.set(id, (writes.get(id) ?? 0) + 1)
  }
  return writes
}

t.test('a full stretch is written once', async (t) => {
  for (const length of [1, 100, 256, 1_000]) {
    const writes = await writesOf(log(1_000, 'org-1'), length)
    for (const before of [0, 256, 512]) t.equal(writes.get(stretchId('org-1', before)), 1)
    t.equal(writes.get('org-1'), Math.ceil(1_000 / length))
    t.equal(writes.size, 4)
  }
})

t.test('a full stretch is stored under its organization and number', async (t) => {
  t.equal(stretchLength, 256)
  t.equal(stretchId('org-1', 0), 'org-1/0')
  t.equal(stretchId('org-1', 512), 'org-1/2')
})
