import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import {
  type EventStore,
  type RecordedEvent,
  START,
  StoreUnavailable,
} from '../../../src/ports/event-store.ts'
import { eventStoreDbDouble } from '../../support/eventstoredb-double/double.ts'
import { eventually } from '../../support/eventually.ts'
import { batchEvents, gathered, noted, streamName } from '../../support/noted.ts'

const opened = async (t: Test, timeouts: { patienceMs?: number; silenceMs?: number } = {}) => {
  const double = await eventStoreDbDouble()
  const drops: Error[] = []
  const signals = new EventEmitter()
  const store = eventStoreDbEventStore({
    url: double.url,
    ...timeouts,
    onDropped: (error) => {
      drops.push(error)
      signals.emit('dropped')
    },
  })
  t.teardown(async () => {
    await store.close()
    double.stop()
  })
  return { double, store, drops, nextDrop: () => once(signals, 'dropped') }
}

/** What is away for long is said to be away soon. */
const impatient = { patienceMs: 100 }

/** Reads a feed until it has handed over `count` events. */
const fed = async (
  store: EventStore,
  count: number,
  seen: (events: readonly RecordedEvent[]) => unknown = () => undefined,
) => {
  const events: RecordedEvent[] = []
  for await (const batch of store.feed(START)) {
    events.push(...batch.events)
    await seen(events)
    if (events.length >= count) break
  }
  return events
}

/** Appends until the server takes it: gRPC itself waits before it connects again. */
const persistently = async (store: EventStore, stream: string, event = noted('again')) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.append(stream, 'any', [event])
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

t.test('a feed whose subscription is dropped again and again', async (t) => {
  const { double, store, drops } = await opened(t)
  const streams = Array.from({ length: 5 }, streamName)
  let dropped = 0
  const reader = fed(store, 5 * 60, ({ length }) => {
    if (length >= 40 * (dropped + 1)) dropped += double.dropSubscriptions()
  })
  await Promise.all(
    streams.map(async (stream) => {
      for (let n = 0; n < 60; n++) await store.append(stream, n - 1, [noted(`${n}`)])
    }),
  )
  const events = await reader
  t.ok(dropped >= 3, 'it was')
  t.equal(drops.length, dropped)
  for (const error of drops) t.type(error, StoreUnavailable)
  t.strictSame(events, await gathered(store.history(START)), 'no gap, no double')
})

t.test('a server that is down', async (t) => {
  const { double, store } = await opened(t, impatient)
  const stream = streamName()
  await store.append(stream, START, [noted('a')])
  double.stop()
  await t.rejects(store.append(stream, 0, [noted('b')]), StoreUnavailable)
  await t.rejects(gathered(store.read(stream)), StoreUnavailable)
  await t.rejects(gathered(store.history(START)), StoreUnavailable)
  await t.rejects(store.head(), StoreUnavailable)
  await double.start()
  t.equal((await persistently(store, stream)).revision, 1)
  t.equal((await gathered(store.read(stream))).length, 2)
})

t.test('a server that was never there', async (t) => {
  const { double, store, nextDrop } = await opened(t, impatient)
  double.stop()
  const stream = streamName()
  await t.rejects(store.append(stream, START, [noted('a')]), StoreUnavailable)
  const reader = fed(store, 1)
  await nextDrop()
  await nextDrop()
  await double.start()
  await persistently(store, stream)
  t.equal((await reader).length, 1, 'a feed waits for it')
})

t.test('a feed outlives a server', async (t) => {
  const { double, store, drops } = await opened(t, impatient)
  const stream = streamName()
  await store.append(stream, START, [noted('a'), noted('b')])
  const reader = fed(store, 4, async ({ length }) => {
    if (length !== 2) return
    double.stop()
    await t.rejects(store.append(stream, 1, [noted('c')]), StoreUnavailable)
    await double.start()
    await persistently(store, stream)
    await store.append(stream, 2, [noted('d')])
  })
  t.strictSame(
    (await reader).map(({ revision }) => revision),
    [0, 1, 2, 3],
  )
  t.ok(drops.length > 0)
})

t.test('a server that goes down under many appends', async (t) => {
  const { double, store } = await opened(t, impatient)
  const text = 'x'.repeat(20_000)
  const ids = new Set<string>()
  const sending = Array.from({ length: 400 }, async (_, n) => {
    const event = noted(`${n}`, { data: { text } })
    await store.append(streamName(), START, [event])
    if (ids.add(event.id).size === 100) double.stop()
  })
  const refused = (await Promise.allSettled(sending)).filter(({ status }) => status === 'rejected')
  t.ok(refused.length > 0)
  for (const outcome of refused) t.match(outcome, { reason: { name: 'StoreUnavailable' } })
  const stored = new Set(double.log.all.map(({ id }) => id))
  t.ok(
    [...ids].every((id) => stored.has(id)),
    'what was acknowledged is stored',
  )
  await double.start()
  t.equal((await persistently(store, streamName())).revision, 0)
})

t.test('an append whose answer is lost is stored once', async (t) => {
  const { double, store } = await opened(t)
  const stream = streamName()
  double.loseAnswers(1, 'cut')
  t.equal((await store.append(stream, START, [noted('a'), noted('b')])).revision, 1)
  double.loseAnswers(1, 'cut')
  t.equal((await store.append(stream, 'any', [noted('c')])).revision, 2)
  t.equal((await gathered(store.read(stream))).length, 3)
})

t.test('an append without an answer is given up', async (t) => {
  const { double, store } = await opened(t, { silenceMs: 50, patienceMs: 300 })
  const stream = streamName()
  const event = noted('a')
  double.loseAnswers(Number.POSITIVE_INFINITY, 'silent')
  await t.rejects(store.append(stream, START, [event]), StoreUnavailable)
  double.loseAnswers(0, 'silent')
  t.equal((await persistently(store, stream, event)).revision, 0, 'and settled by another')
  t.equal((await gathered(store.read(stream))).length, 1)
})

t.test('an append whose answer never comes is asked about again', async (t) => {
  const { double, store } = await opened(t, { silenceMs: 20 })
  const stream = streamName()
  double.loseAnswers(1, 'silent')
  t.equal((await store.append(stream, START, [noted('a')])).revision, 0)
  t.equal((await gathered(store.read(stream))).length, 1)
})

t.test('an append that the server passes over is asked about on the same call', async (t) => {
  const { double, store } = await opened(t, { silenceMs: 500 })
  await store.append(streamName(), START, [noted('first')])
  double.loseAnswers(1, 'silent')
  let settled = false
  const append = store.append(streamName(), START, [noted('a')]).finally(() => {
    settled = true
  })
  while (!settled) await store.append(streamName(), START, [noted('b')])
  t.equal((await append).revision, 0)
  t.equal(double.appendCalls(), 1, 'since it answers others')
})

t.test('the same events from two processes, while the first are not committed', async (t) => {
  const { double, store } = await opened(t, { silenceMs: 50 })
  const other = eventStoreDbEventStore({ url: double.url, silenceMs: 50 })
  t.teardown(() => other.close())
  const stream = streamName()
  const events = [noted('a'), noted('b')]
  const commits = double.holdCommits()
  const first = store.append(stream, START, events)
  await eventually(async () => double.received() > 0)
  const second = other.append(stream, START, events)
  await eventually(async () => double.received() > 4)
  commits.release()
  t.strictSame(await second, await first, 'both answer the first outcome')
  t.equal((await gathered(store.read(stream))).length, 2)
})

t.test('many appends are under way on one call', async (t) => {
  const { double, store } = await opened(t)
  const commits = double.holdCommits()
  const appends = Array.from({ length: 200 }, () => store.append(streamName(), START, [noted('a')]))
  await eventually(async () => double.received() === 200)
  commits.release()
  t.equal((await Promise.all(appends)).length, 200)
  t.equal(double.appendCalls(), 1)
})

t.test('positions are read on after an outage', async (t) => {
  const { double, store } = await opened(t)
  const stream = streamName()
  const data = { text: 'x'.repeat(1_000) }
  for (let n = 0; n < 20; n++)
    await store.append(
      stream,
      'any',
      Array.from({ length: 30 }, () => noted('', { data })),
    )
  const events = await gathered(store.read(stream))
  const wanted = events.filter((_, n) => n % 7 === 0)
  async function* positions() {
    for (const part of [wanted.slice(0, 40), wanted.slice(40)])
      yield part.map(({ position }) => position)
  }
  const read: RecordedEvent[] = []
  let outages = 0
  for await (const batch of store.at(positions())) {
    read.push(...batch)
    if (read.length < 15 * (outages + 1)) continue
    outages++
    double.stop()
    await double.start()
  }
  t.ok(outages >= 3)
  t.strictSame(
    read.map(({ id }) => id),
    wanted.map(({ id }) => id),
  )
})

t.test('a closed store', async (t) => {
  const { store } = await opened(t)
  const stream = streamName()
  await store.append(stream, START, [noted('a')])
  await store.close()
  await t.rejects(store.append(stream, 0, [noted('b')]), StoreUnavailable)
  await t.rejects(gathered(store.read(stream)), StoreUnavailable)
  await t.rejects(store.head(), StoreUnavailable)
  const positions = (async function* () {
    yield [START]
  })()
  await t.rejects(gathered(store.at(positions)), StoreUnavailable)
  t.strictSame(await gathered(batchEvents(store.feed(START))), [])
})
