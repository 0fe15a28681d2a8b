import type { Test } from 'tap'
import {
  AppendTooLarge,
  type EventStore,
  type RecordedEvent,
  RevisionConflict,
  START,
} from '../../src/ports/event-store.ts'
import { gathered, noted, streamName } from '../support/noted.ts'
import { eventFeedContract } from './event-feed.ts'
import { eventPositionsContract } from './event-positions.ts'

/** `reopen` closes the store and opens the same data again, where an adapter can. */
export type OpenedStore = { store: EventStore; reopen?: () => Promise<EventStore> }

export type OpenStore = (t: Test) => Promise<OpenedStore>

const conflictAt = (stream: string, actual: number) => ({
  name: 'RevisionConflict',
  stream,
  actual,
})

/** What every event store owes its callers. The store may be shared and not empty. */
export const eventStoreContract = (t: Test, open: OpenStore): void => {
  t.test('an append answers where its last event went', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const first = await store.append(stream, START, [noted('a'), noted('b')])
    const second = await store.append(stream, 1, [noted('c')])
    t.equal(first.revision, 1)
    t.equal(second.revision, 2)
    t.ok(second.position > first.position)
    t.ok((await store.head()) >= second.position)
    const events = await gathered(store.read(stream))
    t.strictSame(
      events.map(({ data, revision, stream }) => ({ data, revision, stream })),
      ['a', 'b', 'c'].map((note, revision) => ({ data: { note }, revision, stream })),
    )
    t.equal(events[1]?.position, first.position)
    t.equal(events[2]?.position, second.position)
  })

  t.test('events are read as JSON preserves them', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const data = {
      text: 'žluť \u0000 "\\" \u{1f98a}\n',
      numbers: [0, -1.5, 1e21, Number.MAX_SAFE_INTEGER],
      nested: { empty: {}, list: [], none: null, yes: true },
      'with.dots and spaces': 1,
    }
    const lossy = { at: new Date(0), gone: undefined, kept: 1 }
    const sent = [noted('plain', { data }), noted('lossy', { data: lossy })]
    await store.append(stream, START, sent)
    const [plain, converted] = await gathered(store.read(stream))
    t.strictSame(plain, { ...sent[0], stream, revision: 0, position: plain?.position })
    t.strictSame(converted?.data, { at: '1970-01-01T00:00:00.000Z', kept: 1 })
  })

  t.test('a stream that does not exist reads as no events', async (t) => {
    const { store } = await open(t)
    t.strictSame(await gathered(store.read(streamName())), [])
  })

  t.test('reading from a revision on', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    await store.append(
      stream,
      START,
      ['a', 'b', 'c'].map((note) => noted(note)),
    )
    await store.append(stream, 2, [noted('d'), noted('e')])
    for (const from of [0, 1, 2, 3, 4, 5, 9]) {
      const revisions = (await gathered(store.read(stream, from))).map((event) => event.revision)
      t.strictSame(
        revisions,
        [0, 1, 2, 3, 4].filter((revision) => revision >= from),
        `from ${from}`,
      )
    }
  })

  t.test('reading at most so many events', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const notes = (...names: readonly string[]) => names.map((note) => noted(note))
    await store.append(stream, START, notes('a', 'b', 'c'))
    await store.append(stream, 2, notes('d', 'e'))
    for (const from of [0, 1, 2, 3, 4, 5])
      for (const most of [1, 2, 3, 9]) {
        const read = await gathered(store.read(stream, from, most))
        t.strictSame(
          read.map((event) => event.revision),
          [0, 1, 2, 3, 4].slice(from, from + most),
          `from ${from}, at most ${most}`,
        )
      }
  })

  t.test('names that begin alike are different streams', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    await store.append(stream, START, [noted('a')])
    await store.append(`${stream}1`, START, [noted('b')])
    await store.append(`${stream}-é`, START, [noted('c')])
    t.strictSame(
      (await gathered(store.read(stream))).map(({ data }) => data),
      [{ note: 'a' }],
    )
    t.strictSame(
      (await gathered(store.read(`${stream}-é`))).map(({ data }) => data),
      [{ note: 'c' }],
    )
  })

  t.test('a writer with another expectation is refused and told the truth', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    await t.rejects(store.append(stream, 0, [noted('x')]), conflictAt(stream, -1))
    await store.append(stream, START, [noted('a'), noted('b')])
    await t.rejects(store.append(stream, START, [noted('x')]), conflictAt(stream, 1))
    await t.rejects(store.append(stream, 0, [noted('x')]), RevisionConflict)
    await t.rejects(store.append(stream, 2, [noted('x')]), RevisionConflict)
    t.equal((await store.append(stream, 'any', [noted('c')])).revision, 2)
    t.equal((await gathered(store.read(stream))).length, 3)
  })

  t.test('of many writers with the same expectation one wins', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => store.append(stream, START, [noted(`${n}`)])),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    t.equal(refused.length, 19)
    for (const { reason } of refused) t.match(reason, conflictAt(stream, 0))
    t.equal((await gathered(store.read(stream))).length, 1)
  })

  t.test('the same events again are stored once', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const events = [noted('a'), noted('b')]
    const first = await store.append(stream, START, events)
    t.strictSame(await store.append(stream, START, events), first, 'at once')
    const more = [noted('c'), noted('d')]
    const second = await store.append(stream, 1, more)
    t.strictSame(await store.append(stream, START, events), first, 'after later appends')
    t.strictSame(await store.append(stream, 1, more), second, 'in the middle')
    t.strictSame(await store.append(stream, 'any', events), first, 'with any')
    const [third, again] = [noted('e')].flatMap((event) => [
      store.append(stream, 3, [event]),
      store.append(stream, 3, [event]),
    ])
    t.strictSame(await again, await third, 'while the first is under way')
    t.equal((await gathered(store.read(stream))).length, 5)
    const other = streamName()
    const alone = [noted('a')]
    const outcome = await store.append(other, 'any', alone)
    t.strictSame(await store.append(other, 'any', alone), outcome, 'twice with any')
    t.equal((await gathered(store.read(other))).length, 1)
  })

  t.test('the same events at once, with an expectation and without', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const events = [noted('a'), noted('b')]
    const outcomes = await Promise.all([
      store.append(stream, START, events),
      store.append(stream, 'any', events),
      store.append(stream, START, events),
      store.append(stream, 'any', events),
    ])
    for (const outcome of outcomes) t.strictSame(outcome, outcomes[0])
    t.equal((await gathered(store.read(stream))).length, 2)
  })

  t.test('many appends at once are each stored once', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const sent = Array.from({ length: 300 }, (_, n) => ({
      stream: streamName(),
      event: noted(`${n}`),
    }))
    const appended = await Promise.all(
      sent.map(({ stream, event }) => store.append(stream, START, [event])),
    )
    t.equal(new Set(appended.map(({ position }) => position)).size, 300)
    const places = new Map(
      (await gathered(store.history(before))).map(({ id, position }) => [id, position]),
    )
    for (const [n, { event }] of sent.entries())
      t.equal(places.get(event.id), appended[n]?.position)
  })

  t.test('a known first event with a new second is a conflict', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const first = noted('a')
    await store.append(stream, START, [first, noted('b')])
    await t.rejects(store.append(stream, START, [first, noted('c')]), RevisionConflict)
    t.equal((await gathered(store.read(stream))).length, 2)
  })

  t.test('an id known in one stream is new in another', async (t) => {
    const { store } = await open(t)
    const event = noted('a')
    const streams = [streamName(), streamName()]
    for (const stream of streams) await store.append(stream, START, [event])
    for (const stream of streams) t.equal((await gathered(store.read(stream))).length, 1)
  })

  t.test('empty and oversized appends are refused whole', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const sized = (bytes: number) => noted('big', { data: { text: 'x'.repeat(bytes) } })
    await t.rejects(store.append(stream, START, []), TypeError)
    await t.rejects(store.append(stream, START, [sized(1_200_000)]), AppendTooLarge)
    await t.rejects(store.append(stream, START, [sized(600_000), sized(600_000)]), AppendTooLarge)
    t.strictSame(await gathered(store.read(stream)), [])
    t.equal((await store.append(stream, START, [sized(900_000)])).revision, 0)
    t.equal((await store.append(stream, 0, [sized(400_000), sized(400_000)])).revision, 2)
    t.strictSame(
      (await gathered(store.read(stream))).map(({ data }) => JSON.stringify(data).length),
      [900_011, 400_011, 400_011],
    )
  })

  t.test('many events in one append keep their order', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const before = await store.head()
    const events = Array.from({ length: 1_500 }, (_, n) => noted(`${n}`))
    const last = await store.append(stream, START, events)
    t.equal(last.revision, 1_499)
    const read = await gathered(store.read(stream))
    t.strictSame(
      read.map(({ id }) => id),
      events.map(({ id }) => id),
    )
    t.ok(read.every(({ position }, n) => n === 0 || position > (read[n - 1]?.position ?? Infinity)))
    const own = ({ stream: name }: RecordedEvent) => name === stream
    t.strictSame((await gathered(store.history(before))).filter(own), read)
    const middle = read[700]?.position ?? START
    t.strictSame((await gathered(store.history(middle))).filter(own), read.slice(701))
  })

  t.test('everything is there after a restart', async (t) => {
    const { store, reopen } = await open(t)
    if (!reopen) return t.comment('this store has no restart')
    const stream = streamName()
    const last = await store.append(stream, START, [noted('a'), noted('b')])
    const before = await gathered(store.read(stream))
    const again = await reopen()
    t.strictSame(await gathered(again.read(stream)), before)
    t.ok((await again.head()) >= last.position)
    t.equal((await again.append(stream, 1, [noted('c')])).revision, 2)
  })

  eventFeedContract(t, open)
  eventPositionsContract(t, open)
}
