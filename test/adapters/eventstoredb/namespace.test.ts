import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import type { ForeignEvent } from '../../../src/adapters/eventstoredb/own-events.ts'
import { type EventStore, type LogBatch, START } from '../../../src/ports/event-store.ts'
import { eventStoreDbDouble } from '../../support/eventstoredb-double/double.ts'
import { eventually } from '../../support/eventually.ts'
import { batchEvents, gathered, noted, streamName } from '../../support/noted.ts'

type Opening = { neighbours?: boolean; namespaces?: string[] }

const opened = async (t: Test, { neighbours = false, namespaces = ['reprise'] }: Opening = {}) => {
  const double = await eventStoreDbDouble({ neighbours })
  const foreignEvents: ForeignEvent[] = []
  const stores = namespaces.map((namespace) =>
    eventStoreDbEventStore({
      url: double.url,
      namespace,
      onForeign: (event) => foreignEvents.push(event),
    }),
  )
  t.teardown(async () => {
    for (const store of stores) await store.close()
    double.stop()
  })
  return { double, foreignEvents, stores, store: stores[0] as EventStore }
}

/** An event as another application might write it, unless it is given otherwise. */
const foreign = (given: { contentType?: string; data?: string; metadata?: string } = {}) => {
  const { contentType = 'application/json', data = '{}', metadata = '' } = given
  return {
    id: randomUUID(),
    type: 'Noted',
    contentType,
    data: Buffer.from(data),
    metadata: Buffer.from(metadata),
  }
}

const notes = (events: readonly { data: unknown }[]) =>
  events.map(({ data }) => (data as { note: string }).note)

/** The next events of a feed, which come in batches. */
const next = async (feed: AsyncIterator<readonly { data: unknown }[]>, count: number) => {
  const seen: { data: unknown }[] = []
  while (seen.length < count) seen.push(...((await feed.next()).value ?? []))
  return notes(seen)
}

t.test('the names of streams on the server begin with the namespace', async (t) => {
  const { double, store } = await opened(t)
  await store.append('note-org-1_1', START, [noted('a')])
  t.equal(double.log.stream('reprise.note-org-1_1')?.length, 1)
  t.equal((await gathered(store.read('note-org-1_1')))[0]?.stream, 'note-org-1_1')
  await t.rejects(store.append('note-org-1_1', START, [noted('b')]), {
    name: 'RevisionConflict',
    stream: 'note-org-1_1',
    message: 'note-org-1_1 is at revision 0, not -1',
  })
})

t.test('two installations and other applications share a server', async (t) => {
  const { double, foreignEvents, stores } = await opened(t, {
    neighbours: true,
    namespaces: ['acme', 'acme2'],
  })
  const feeds = stores.map((store) => batchEvents(store.feed(START)))
  for (let n = 0; n < 40; n++)
    for (const [m, store] of stores.entries())
      await store.append('note-org-1_1', n - 1, [noted(`${m}.${n}`)])
  const others = double.log.all.filter(({ stream }) => !stream.startsWith('acme'))
  t.ok(others.length > 40, 'others write as well')
  for (const [m, store] of stores.entries()) {
    const own = Array.from({ length: 40 }, (_, n) => `${m}.${n}`)
    t.strictSame(notes(await gathered(store.history(START))), own, 'history')
    t.strictSame(notes(await gathered(store.read('note-org-1_1'))), own, 'stream')
    const feed = feeds[m]
    if (feed) t.strictSame(await next(feed, 40), own, 'feed')
    await feed?.return?.()
  }
  t.strictSame(foreignEvents, [], 'which are not foreign, being elsewhere')
})

t.test('foreign events in the namespace are skipped, and reported once', async (t) => {
  const { double, foreignEvents, store } = await opened(t)
  await store.append('note-org-1_1', START, [noted('a')])
  await double.write('reprise.note-org-1_1', [
    foreign({ contentType: 'application/octet-stream', data: '\u0000\u0001' }),
    foreign(),
    foreign({ metadata: '{"tenant":"someone"}' }),
    foreign({ metadata: 'not JSON' }),
  ])
  await double.write('reprise.orders-1', [foreign({ data: 'not JSON' })])
  await store.append('note-org-1_1', 4, [noted('b')])
  for (let n = 0; n < 2; n++) {
    t.strictSame(notes(await gathered(store.read('note-org-1_1'))), ['a', 'b'])
    t.strictSame(notes(await gathered(store.history(START))), ['a', 'b'])
    const feed = batchEvents(store.feed(START))
    t.strictSame(await next(feed, 2), ['a', 'b'])
    await feed.return?.()
  }
  t.strictSame(
    foreignEvents.map(({ stream, revision }) => `${revision}@${stream}`),
    [1, 2, 3, 4].map((n) => `${n}@reprise.note-org-1_1`).concat('0@reprise.orders-1'),
  )
  t.match(foreignEvents[0], { type: 'Noted' })
})

t.test('a quiet installation beside a busy application', async (t) => {
  const { double, store } = await opened(t)
  const { position } = await store.append(streamName(), START, [noted('a')])
  await double.write(
    'orders-1',
    Array.from({ length: 20_000 }, () => foreign()),
  )
  const feed = batchEvents(store.feed(START))
  t.strictSame(await next(feed, 1), ['a'])
  const second = feed.next()
  const [subscription] = double.reads
  await eventually(async () => subscription && subscription.checkpoints >= 39)
  t.equal(subscription?.events, 1, 'the server leaves out what is not ours')
  t.equal(await store.head(), position)
  const head = double.reads.at(-1)
  t.equal(head?.kind, 'all')
  t.ok((head?.events ?? Infinity) < 10_000, 'and the head is not looked for far back')
  double.dropSubscriptions()
  await eventually(async () => double.reads.at(-1)?.kind === 'subscription')
  t.ok((double.reads.at(-1)?.from ?? 0) > position, 'the next goes on from a checkpoint')
  await store.append(streamName(), START, [noted('b')])
  t.strictSame(notes((await second).value ?? []), ['b'])
  await feed.return?.()
})

t.test('a feed beside a busy application says how far it is, and goes on from there', async (t) => {
  const { double, store } = await opened(t)
  const first = await store.append(streamName(), START, [noted('a')])
  const feed = store.feed(START)[Symbol.asyncIterator]()
  t.match(await feed.next(), { value: { position: first.position } })
  let batch: LogBatch | undefined
  const nextBatch = feed.next().then(({ value }) => {
    batch = value
  })
  await eventually(async () => {
    await double.write(
      'orders-1',
      Array.from({ length: 1_000 }, () => foreign()),
    )
    return batch
  })
  await nextBatch
  t.strictSame(batch?.events, [])
  const position = batch?.position ?? START
  t.ok(position > first.position)
  await store.append(streamName(), START, [noted('b')])
  t.strictSame(notes((await feed.next()).value.events), ['b'])
  await feed.return?.()
  const goingOn = async () => {
    const again = batchEvents(store.feed(position))
    t.strictSame(await next(again, 1), ['b'])
    await again.return?.()
    t.strictSame(notes(await gathered(store.history(position))), ['b'])
  }
  await goingOn()
  t.equal(double.reads.filter(({ kind }) => kind === 'subscription').at(-1)?.from, position)
  double.refuseCheckpoints()
  await goingOn()
})

t.test('a server that does not go on from a checkpoint', async (t) => {
  const { double, store } = await opened(t)
  const first = await store.append(streamName(), START, [noted('a')])
  await double.write(
    'orders-1',
    Array.from({ length: 2_000 }, () => foreign()),
  )
  const feed = batchEvents(store.feed(START))
  t.strictSame(await next(feed, 1), ['a'])
  const second = feed.next()
  const [subscription] = double.reads
  await eventually(async () => subscription && subscription.checkpoints >= 3)
  double.refuseCheckpoints()
  double.dropSubscriptions()
  await store.append(streamName(), START, [noted('b')])
  t.strictSame(notes((await second).value ?? []), ['b'])
  t.equal(double.reads.filter(({ kind }) => kind === 'subscription').at(-1)?.from, first.position)
  await feed.return?.()
})
