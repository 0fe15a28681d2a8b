import type { Test } from 'tap'
import {
  type EventStore,
  type LogBatch,
  type RecordedEvent,
  START,
} from '../../src/ports/event-store.ts'
import { batchEvents, gathered, noted, streamName } from '../support/noted.ts'
import type { OpenStore } from './event-store.ts'

/** Reads a feed until it has seen `count` events of these streams; answers all that it saw. */
const seen = async (
  feed: AsyncIterable<LogBatch>,
  streams: ReadonlySet<string>,
  count: number,
  after: (batch: readonly RecordedEvent[]) => Promise<unknown> = async () => undefined,
): Promise<{ own: RecordedEvent[]; all: RecordedEvent[] }> => {
  const own: RecordedEvent[] = []
  const all: RecordedEvent[] = []
  for await (const { events: batch } of feed) {
    all.push(...batch)
    own.push(...batch.filter(({ stream }) => streams.has(stream)))
    if (own.length >= count) break
    if (batch.length > 0) await after(batch)
  }
  return { own, all }
}

const increasing = (events: readonly RecordedEvent[]) =>
  events.every(({ position }, n) => position > (events[n - 1]?.position ?? START))

/** Writers that each append to a stream of their own, one after the other, all at once. */
const writing = (
  store: EventStore,
  streams: readonly string[],
  appends: number,
  first: number = START,
) =>
  Promise.all(
    streams.map(async (stream) => {
      let revision = first
      for (let n = 0; n < appends; n++) {
        const events = Array.from({ length: 1 + (n % 3) }, () => noted(`${n}`))
        revision = (await store.append(stream, revision, events)).revision
      }
      return revision
    }),
  )

export const eventFeedContract = (t: Test, open: OpenStore): void => {
  t.test('a feed gives the past, then the new, without gap or double', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const streams = Array.from({ length: 8 }, streamName)
    const [last = START] = await writing(store, streams, 30)
    const reader = seen(store.feed(before), new Set(streams), 8 * 2 * (last + 1))
    await writing(store, streams, 30, last)
    const { own, all } = await reader
    t.ok(increasing(all))
    t.equal(own.length, 8 * 2 * (last + 1))
    for (const stream of streams)
      t.strictSame(
        own.filter((event) => event.stream === stream),
        await gathered(store.read(stream)),
        'the same events as a read gives',
      )
  })

  t.test('a feed goes on after any position', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    await store.append(stream, START, [noted('a'), noted('b'), noted('c')])
    const events = await gathered(store.read(stream))
    for (const [n, { position }] of events.slice(0, -1).entries()) {
      const { own } = await seen(store.feed(position), new Set([stream]), events.length - n - 1)
      t.strictSame(own, events.slice(n + 1))
    }
  })

  t.test('a feed at the head waits for what comes', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const reader = seen(store.feed(await store.head()), new Set([stream]), 2)
    await store.append(stream, START, [noted('a')])
    await store.append(stream, 0, [noted('b')])
    const { own } = await reader
    t.strictSame(
      own.map(({ data }) => data),
      [{ note: 'a' }, { note: 'b' }],
    )
  })

  t.test('a slow reader loses nothing and holds nobody up', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const streams = Array.from({ length: 4 }, streamName)
    const total = 4 * 200
    const batches: number[] = []
    const slow = seen(store.feed(before), new Set(streams), total, async (batch) => {
      batches.push(batch.length)
      const next = streams[batches.length % 4] ?? ''
      await store.append(next, 'any', [noted('while reading')])
    })
    await writing(
      store,
      streams.map((name) => `${name}-other`),
      50,
    )
    await Promise.all(
      streams.flatMap((stream) =>
        Array.from({ length: 200 }, (_, n) => store.append(stream, 'any', [noted(`${n}`)])),
      ),
    )
    const { own, all } = await slow
    t.ok(increasing(all))
    const stored = await gathered(store.history(before))
    const ids = new Set(streams)
    const expected = stored.filter(({ stream }) => ids.has(stream)).slice(0, own.length)
    t.strictSame(own, expected)
  })

  t.test('many feeds at once see the same', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const stream = streamName()
    const readers = Array.from({ length: 20 }, () =>
      seen(store.feed(before), new Set([stream]), 60),
    )
    for (let n = 0; n < 60; n++) await store.append(stream, n - 1, [noted(`${n}`)])
    const expected = await gathered(store.read(stream))
    for (const { own } of await Promise.all(readers)) t.strictSame(own, expected)
  })

  t.test('history ends at the head of the time it was asked', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const stream = streamName()
    await store.append(stream, START, [noted('a')])
    const history: RecordedEvent[] = []
    for await (const batch of store.history(before)) {
      history.push(...batch)
      await store.append(stream, 'any', [noted('later')])
    }
    const own = history.filter((event) => event.stream === stream)
    t.equal(own.length, 1)
    t.strictSame(await gathered(store.history(await store.head())), [])
  })

  t.test('history ends where it is told, also in the middle of an append', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const stream = streamName()
    for (let n = 0; n < 3; n++)
      await store.append(
        stream,
        'any',
        [0, 1, 2, 3].map((m) => noted(`${n}.${m}`)),
      )
    const all = await gathered(store.read(stream))
    for (const [n, { position }] of all.entries())
      for (const m of [0, n >> 1, n]) {
        const after = m === 0 ? before : (all[m - 1]?.position ?? before)
        const read = await gathered(store.history(after, position))
        const own = read.filter((event) => event.stream === stream)
        t.strictSame(own, all.slice(m, n + 1))
      }
    t.strictSame(await gathered(store.history(all[3]?.position ?? START, all[2]?.position)), [])
  })

  t.test('a feed ends when its signal aborts', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const controller = new AbortController()
    const reader = gathered(batchEvents(store.feed(await store.head(), controller.signal)))
    await store.append(stream, START, [noted('a')])
    controller.abort()
    await t.resolves(reader, 'at the head')
    const aborted = AbortSignal.abort()
    t.strictSame(await gathered(batchEvents(store.feed(START, aborted))), [], 'before it began')
  })

  t.test('a feed ends when the store closes, and closing again does no harm', async (t) => {
    const { store } = await open(t)
    const stream = streamName()
    const feed = store.feed(await store.head())[Symbol.asyncIterator]()
    const first = feed.next()
    await store.append(stream, START, [noted('a')])
    t.notOk((await first).done)
    const second = gathered(batchEvents({ [Symbol.asyncIterator]: () => feed }))
    await store.close()
    await t.resolves(second)
    await t.resolves(store.close())
  })
}
