import { EventEmitter, once } from 'node:events'
import t, { type Test } from 'tap'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import { type EventStore, START, StoreUnavailable } from '../../../src/ports/event-store.ts'
import { eventStoreDbCluster } from '../../support/eventstoredb-double/cluster.ts'
import { eventually } from '../../support/eventually.ts'
import { batchEvents, gathered, noted, streamName } from '../../support/noted.ts'

const opened = async (t: Test, timeouts: { patienceMs?: number; silenceMs?: number } = {}) => {
  const cluster = await eventStoreDbCluster()
  const drops: Error[] = []
  const signals = new EventEmitter()
  const store = eventStoreDbEventStore({
    url: cluster.url,
    silenceMs: 50,
    ...timeouts,
    onDropped: (error) => {
      drops.push(error)
      signals.emit('dropped')
    },
  })
  t.teardown(async () => {
    await store.close()
    cluster.stop()
  })
  return { cluster, store, drops, signals }
}

/** Writers that append one event after the other until they are told to stop. */
const load = (store: EventStore, writers: number) => {
  const acknowledged = new Set<string>()
  const signals = new EventEmitter()
  let over = false
  const writing = Promise.all(
    Array.from({ length: writers }, async () => {
      const stream = streamName()
      for (let n = START; !over; n++) {
        const event = noted(`${n}`)
        await store.append(stream, n, [event])
        acknowledged.add(event.id)
        signals.emit('acknowledged')
      }
    }),
  )
  return {
    acknowledged,
    /** Until so many more are acknowledged, or the load has failed. */
    more: async (count: number) => {
      const end = acknowledged.size + count
      const failed = writing.then(() => undefined)
      while (acknowledged.size < end) await Promise.race([once(signals, 'acknowledged'), failed])
    },
    stop: async () => {
      over = true
      await writing
    },
  }
}

const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

for (const [says, how] of [
  ['stale', 'unavailable'],
  ['leaderless', 'not ready'],
  ['leaderless', 'hang'],
  ['leaderless', 'unavailable'],
  ['electing', 'not ready'],
] as const)
  t.test(`the leader dies three times, gossip is ${says}, appends: ${how}`, async (t) => {
    const { cluster, store } = await opened(t)
    const feed = batchEvents(store.feed(START))
    const writing = load(store, 8)
    await writing.more(40)
    for (let n = 0; n < 3; n++) {
      const before = cluster.received()
      cluster.killLeader(says, how)
      if (says === 'leaderless') await eventually(async () => cluster.received() > before + 8)
      cluster.electLeader()
      await writing.more(40)
      await cluster.revive()
    }
    await t.resolves(writing.stop(), 'no append is refused')
    const stored = await gathered(store.history(START))
    t.strictSame(new Set(ids(stored)), writing.acknowledged, 'nothing is lost')
    t.equal(stored.length, writing.acknowledged.size, 'and nothing is stored twice')
    const seen: string[] = []
    while (seen.length < stored.length) seen.push(...ids((await feed.next()).value ?? []))
    t.strictSame(seen, ids(stored), 'a feed goes on as well')
    await feed.return?.()
  })

t.test('a leader dies with what it had not committed', async (t) => {
  const { cluster, store } = await opened(t)
  await store.append(streamName(), START, [noted('first')])
  const commits = cluster.holdCommits()
  const stream = streamName()
  const append = store.append(stream, START, [noted('a'), noted('b')])
  await eventually(async () => cluster.received() === 2)
  cluster.killLeader('electing', 'not ready')
  commits.lose()
  cluster.electLeader()
  t.equal((await append).revision, 1)
  t.equal((await gathered(store.read(stream))).length, 2)
})

t.test('all nodes are away for longer than the client looks for one', async (t) => {
  const { cluster, store, drops, signals } = await opened(t)
  const stream = streamName()
  await store.append(stream, START, [noted('a')])
  const feed = batchEvents(store.feed(START))
  t.equal((await feed.next()).value?.length, 1)
  const next = feed.next()
  cluster.stop()
  const under = [
    store.append(stream, 0, [noted('b')]),
    store.append(streamName(), 'any', [noted('c')]),
  ]
  const reading = gathered(store.read(stream))
  while (!/Failed to discover/.test(drops.at(-1)?.message ?? '')) await once(signals, 'dropped')
  await cluster.revive()
  cluster.electLeader()
  t.strictSame(
    (await Promise.all(under)).map(({ revision }) => revision),
    [1, 0],
    'what was under way is stored',
  )
  t.ok((await reading).length >= 1, 'reads wait as well')
  t.equal((await store.append(stream, 1, [noted('d')])).revision, 2)
  const seen: unknown[] = [...((await next).value ?? [])]
  while (seen.length < 3) seen.push(...((await feed.next()).value ?? []))
  t.equal(seen.length, 3)
  await feed.return?.()
})

t.test('no leader for longer than an append waits', async (t) => {
  const { cluster, store } = await opened(t, { patienceMs: 300 })
  const stream = streamName()
  await store.append(stream, START, [noted('a')])
  cluster.killLeader('leaderless', 'not ready')
  await t.rejects(store.append(stream, 0, [noted('b')]), StoreUnavailable)
  t.equal((await gathered(store.read(stream))).length, 1, 'reads need no leader')
  cluster.electLeader()
  t.equal((await store.append(stream, 0, [noted('b')])).revision, 1)
})
