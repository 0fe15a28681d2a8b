import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { CommitPace } from '../../../src/adapters/embedded/commit-pace.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { type NewEvent, type RecordedEvent, START } from '../../../src/ports/event-store.ts'
import { eventStoreContract, type OpenStore } from '../../contracts/event-store.ts'
import { sample, sampleTypes } from '../../support/events.ts'
import { gathered, noted, streamName } from '../../support/noted.ts'

/** Commits that the event loop does not wait for. */
const handed: CommitPace = { waits: () => false, took: () => undefined }

const decided = (event: NewEvent): NewEvent => ({ ...event, decided: true })

/** Stores that leave out so many positions before each append. */
const opening =
  (gap: number, pace?: CommitPace): OpenStore =>
  async (t: Test) => {
    const path = join(t.testdir(), 'log')
    const open = async () => {
      const log = await openLog({ path, ...(pace && { pace }) })
      t.teardown(() => log.close())
      return embeddedEventStore(log, { gap })
    }
    const store = await open()
    const reopen = async () => {
      await store.close()
      return open()
    }
    return { store, reopen }
  }

for (const gap of [0, 7])
  t.test(`the embedded event store, gaps of ${gap}`, async (t) =>
    eventStoreContract(t, opening(gap)),
  )

t.test('the embedded event store, commits not waited for', async (t) =>
  eventStoreContract(t, opening(0, handed)),
)

const appended = async (t: Test, gap: number) => {
  const { store } = await opening(gap)(t)
  for (const count of [1, 3, 2])
    await store.append(
      'note-1',
      'any',
      Array.from({ length: count }, () => noted('a')),
    )
  const events = await gathered(store.history(START))
  return { store, positions: events.map(({ position }) => position) }
}

t.test('positions count events from 0, and a distance is in events', async (t) => {
  const { store, positions } = await appended(t, 0)
  t.strictSame(positions, [0, 1, 2, 3, 4, 5])
  t.strictSame(store.distance(START, await store.head()), { amount: 6, unit: 'events' })
})

t.test('gaps are before each append', async (t) => {
  const { positions } = await appended(t, 7)
  t.strictSame(positions, [7, 15, 16, 17, 25, 26])
})

t.test('a feed hands over the same events as a read, whatever was appended', async (t) => {
  const { store } = await opening(2)(t)
  const changing = { note: 'as it was', lines: ['one'] }
  const own = { ...noted('a').metadata, at: '2026-01-02T00:00:00.000Z' }
  const appends = [
    [noted('plain'), noted('of another time', { metadata: own })],
    [noted('', { data: changing })],
    [noted('', { data: { gone: undefined, zero: -0, none: null, 2: 'b', 1: 'a' } })],
    [noted('', { data: { at: new Date(0), list: [undefined, Number.NaN] } }), noted('after')],
  ]
  for (const events of appends) await store.append('note-1', 'any', events)
  changing.note = 'changed'
  changing.lines.push('two')
  const feed = store.feed(START)[Symbol.asyncIterator]()
  const { value } = await feed.next()
  await feed.return?.()
  const read = await gathered(store.history(START))
  t.equal(JSON.stringify(value?.events), JSON.stringify(read))
  t.strictSame(value?.events, read)
  t.match(read[2], { data: { note: 'as it was', lines: ['one'] } })
})

t.test('reads that end early leave nothing open in lmdb', async (t) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  t.teardown(() => log.close())
  const store = embeddedEventStore(log)
  // More than lmdb has places for readers, each after a commit of its own.
  for (let n = 0; n < 400; n++) {
    await store.append(`stream-${n}`, -1, [noted(`${n}`)])
    const [last] = log.look(() => log.records.getKeys({ reverse: true, limit: 1 }))
    t.equal(last, n)
  }
})

t.test('a feed hands over decided events as they are read from the disk', async (t) => {
  const { store } = await opening(0)(t)
  const data = [
    ...sampleTypes().map((type) => sample(type).data),
    { text: 'ä €😀\ud800', nested: [{ a: null }, []], n: -1.5e-7 },
    { gone: undefined, in: { gone: undefined } },
    { at: new Date(0), zero: -0 },
    { list: [undefined, Number.NaN] },
  ]
  for (const item of data)
    await store.append(
      streamName(),
      START,
      [noted('a'), { ...noted('b'), data: item }].map(decided),
    )
  const { value } = await store.feed(START)[Symbol.asyncIterator]().next()
  const handed = value?.events.map(({ decided: _, ...event }: RecordedEvent) => event)
  t.same(handed, await gathered(store.history(START)))
  t.equal(handed?.length, 2 * data.length)
})

t.test('a feed hands over decided events without copying them', async (t) => {
  const { store } = await opening(0)(t)
  const event = decided(noted('a'))
  await store.append(streamName(), START, [event])
  const { value } = await store.feed(START)[Symbol.asyncIterator]().next()
  t.equal(value?.events[0]?.data, event.data)
  t.equal(value?.events[0]?.decided, true)
})
