import t, { type Test } from 'tap'
import { z } from 'zod'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { type Aggregate, type EventOf, streamOf } from '../../src/domain/aggregate.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import { type EventStore, RevisionConflict } from '../../src/ports/event-store.ts'
import type { Snapshot } from '../../src/ports/snapshots.ts'
import { clockFrom } from '../support/ticking.ts'

const events = { Added: z.object({ n: z.int(), padding: z.string().optional() }) }
type Added = EventOf<typeof events>

const sum: Aggregate<{ total: number; count: number }, typeof events> = {
  category: 'sum',
  events,
  initial: { total: 0, count: 0 },
  evolve: { Added: ({ total, count }, { n }) => ({ total: total + n, count: count + 1 }) },
}

const call = {
  organizationId: 'org-1',
  keyId: null,
  userId: 'user-1',
  onBehalfOf: null,
  requestId: 'r',
  correlationId: 'r',
  causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
}

const add = (n: number, padding?: string) => (): Added[] => [
  { type: 'Added', data: { n, ...(padding ? { padding } : {}) } },
]

const snapshotsInMemory = () => {
  const stored = new Map<string, Snapshot>()
  return {
    stored,
    get: async (stream: string) => stored.get(stream),
    put: async (stream: string, snapshot: Snapshot) => void stored.set(stream, snapshot),
  }
}

const opened = async (t: Test) => {
  const store = embeddedEventStore(await openLog({ path: t.testdir() }))
  t.teardown(() => store.close())
  return store
}

/** Counts appends, and can let another writer in before one of them. */
const watched = (store: EventStore) => {
  const seen = { appends: 0, before: async () => {} }
  const watching: EventStore = {
    ...store,
    async append(...sent) {
      seen.appends++
      const { before } = seen
      seen.before = async () => {}
      await before()
      return store.append(...sent)
    },
  }
  return { store: watching, seen }
}

const stream = streamOf(sum, 'org-1', 'a')
const clock = () => clockFrom(call.at)

t.test('decisions that wait on a busy stream share an append, in order', async (t) => {
  const { store, seen } = watched(await opened(t))
  const { transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, n) => transact(stream, add(n), call)),
  )
  t.strictSame(
    all.map(({ state }) => state.count),
    Array.from({ length: 50 }, (_, n) => n + 1),
  )
  t.ok(seen.appends <= 3, `${seen.appends} appends`)
})

t.test('a refusal goes out alone', async (t) => {
  const store = await opened(t)
  const { transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  const refuse = (): Added[] => {
    throw new Error('no')
  }
  const results = await Promise.allSettled([
    transact(stream, add(1), call),
    transact(stream, refuse, call),
    transact(stream, add(2), call),
  ])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

t.test('an outrun decision is made again on what the other wrote', async (t) => {
  const { store, seen } = watched(await opened(t))
  const shared = { store, snapshots: snapshotsInMemory(), clock: clock(), shared: true }
  const ours = transactor(shared)
  const other = transactor(shared)
  await ours.transact(stream, add(1), call)
  seen.before = async () => {
    await other.transact(stream, add(10), call)
  }
  const { state } = await ours.transact(stream, add(100), call)
  t.strictSame(state, { total: 111, count: 3 })
})

t.test('a begun decision is made again if another process was faster', async (t) => {
  const store = await opened(t)
  const shared = { store, snapshots: snapshotsInMemory(), clock: clock(), shared: true }
  const ours = transactor(shared)
  const other = transactor(shared)
  const onlyFirst = ({ count }: { count: number }): Added[] =>
    count < 2 ? [{ type: 'Added', data: { n: 5 } }] : []
  await ours.transact(stream, add(1), call)
  await other.transact(stream, add(10), call)
  const { decided, stored } = ours.begin(stream, onlyFirst, call)
  t.strictSame(await decided, [])
  t.match(await stored, { events: [], state: { total: 11 } })
})

t.test('nothing is refused on a state that another process has moved on', async (t) => {
  const store = await opened(t)
  const shared = { store, snapshots: snapshotsInMemory(), clock: clock(), shared: true }
  const ours = transactor(shared)
  const other = transactor(shared)
  const onlyTwice = ({ count }: { count: number }): Added[] => {
    if (count < 2) throw new Error('too early')
    return [{ type: 'Added', data: { n: 1 } }]
  }
  await ours.transact(stream, add(1), call)
  await other.transact(stream, add(1), call)
  t.match(await ours.transact(stream, onlyTwice, call), { state: { count: 3 } })
})

t.test('decisions too large for one append are stored one by one', async (t) => {
  const store = await opened(t)
  const { transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  const half = 'x'.repeat(600_000)
  const all = await Promise.allSettled([
    transact(stream, add(1), call),
    transact(stream, add(2, half), call),
    transact(stream, add(3, half), call),
    transact(stream, add(4, half + half), call),
  ])
  t.strictSame(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  )
  t.match(await transact(stream, add(5), call), { state: { total: 11, count: 4 } })
})

t.test('a long stream is read from its snapshot', async (t) => {
  const store = await opened(t)
  const snapshots = snapshotsInMemory()
  const { transact } = transactor({ store, snapshots, clock: clock() })
  const many = (): Added[] =>
    Array.from({ length: 600 }, () => ({ type: 'Added' as const, data: { n: 1 } }))
  await transact(stream, many, call)
  t.equal(snapshots.stored.size, 0, 'not for what was written here')
  const cold = transactor({ store, snapshots, clock: clock() })
  await cold.transact(stream, add(1), call)
  t.match(snapshots.stored.get(stream.name), { revision: 599, state: { total: 600 } })
  const colder = transactor({ store, snapshots, clock: clock() })
  t.match(await colder.transact(stream, add(1), call), { state: { total: 602, count: 602 } })
})

t.test('load answers a stream as it is, and stores nothing', async (t) => {
  const { store, seen } = watched(await opened(t))
  const { load, transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  t.strictSame(await load(stream), { state: sum.initial, revision: -1, position: -1 })
  const { position } = await transact(stream, add(7), call)
  t.strictSame(await load(stream), { state: { total: 7, count: 1 }, revision: 0, position })
  t.equal(seen.appends, 1)
  const cold = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  t.strictSame(await cold.load(stream), { state: { total: 7, count: 1 }, revision: 0, position })
})

t.test('load sees what was decided before it, once that is stored', async (t) => {
  const store = await opened(t)
  const { load, transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  const first = transact(stream, add(1), call)
  const early = load(stream)
  const second = transact(stream, add(2), call)
  const late = load(stream)
  const refused = transact(
    stream,
    () => {
      throw new Error('no')
    },
    call,
  )
  await t.rejects(refused, { message: 'no' })
  t.ok((await early).revision >= 0)
  t.match(await late, { state: { total: 3, count: 2 }, revision: 1 })
  await Promise.all([first, second])
})

t.test('load is as fresh as a decision where other processes write too', async (t) => {
  const store = await opened(t)
  const shared = { store, snapshots: snapshotsInMemory(), clock: clock(), shared: true }
  const ours = transactor(shared)
  const other = transactor(shared)
  await ours.transact(stream, add(1), call)
  await other.transact(stream, add(10), call)
  t.match(await ours.load(stream), { state: { total: 11, count: 2 }, revision: 1 })
  await other.transact(stream, add(100), call)
  const [, loaded] = await Promise.all([ours.transact(stream, add(1_000), call), ours.load(stream)])
  t.match(loaded, { state: { total: 1_111, count: 4 } })
})

t.test('a stream of its own process is read once', async (t) => {
  const store = await opened(t)
  let reads = 0
  const counting: EventStore = {
    ...store,
    read(...args) {
      reads++
      return store.read(...args)
    },
  }
  const { load, transact } = transactor({
    store: counting,
    snapshots: snapshotsInMemory(),
    clock: clock(),
  })
  await Promise.all([load(stream), load(stream)])
  await load(stream)
  await transact(stream, add(1), call)
  await load(stream)
  t.equal(reads, 1)
})

t.test('a stream that cannot be read is loaded later, or not at all', async (t) => {
  const store = await opened(t)
  let broken = true
  const failing: EventStore = {
    ...store,
    read(...args) {
      if (broken) throw new Error('broken')
      return store.read(...args)
    },
  }
  const { load, transact } = transactor({
    store: failing,
    snapshots: snapshotsInMemory(),
    clock: clock(),
  })
  const [loading, deciding] = await Promise.allSettled([
    load(stream),
    transact(stream, add(1), call),
  ])
  t.match(loading, { status: 'rejected', reason: { message: 'broken' } })
  t.match(deciding, { status: 'rejected', reason: { message: 'broken' } })
  broken = false
  t.match(await load(stream), { revision: -1 })
})

t.test('a snapshot knows where its stream ends', async (t) => {
  const store = await opened(t)
  const snapshots = snapshotsInMemory()
  const { transact } = transactor({ store, snapshots, clock: clock() })
  const many = (): Added[] =>
    Array.from({ length: 600 }, () => ({ type: 'Added' as const, data: { n: 1 } }))
  const { position } = await transact(stream, many, call)
  const end = { state: { total: 600, count: 600 }, revision: 599, position }
  t.strictSame(await transactor({ store, snapshots, clock: clock() }).load(stream), end)
  t.equal(snapshots.stored.size, 1)
  t.strictSame(await transactor({ store, snapshots, clock: clock() }).load(stream), end)
})

t.test('a decision after one that cannot be stored is made on the stream as it is', async (t) => {
  const store = await opened(t)
  const { load, transact } = transactor({ store, snapshots: snapshotsInMemory(), clock: clock() })
  await transact(stream, add(1), call)
  const half = 'x'.repeat(600_000)
  const afterOne = ({ count }: { count: number }): Added[] => {
    if (count < 1) throw new Error('too early')
    return []
  }
  const all = await Promise.allSettled([
    transact(stream, add(2), call),
    transact(stream, add(3, half + half), call),
    transact(stream, afterOne, call),
  ])
  t.strictSame(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.match(await load(stream), { state: { total: 3, count: 2 } })
})

t.test('a new stream is not read before it is decided on, nor after', async (t) => {
  const store = await opened(t)
  let reads = 0
  const counting: EventStore = {
    ...store,
    read: (...args) => {
      reads++
      return store.read(...args)
    },
  }
  const options = { store: counting, snapshots: snapshotsInMemory(), clock: clockFrom(call.at) }
  for (const shared of [false, true]) {
    reads = 0
    const { transact } = transactor({ ...options, shared })
    const stream = { ...streamOf(sum, 'org-1', `new-${shared}`), isNew: true }
    t.match(await transact(stream, add(1), call), { state: { total: 1 } })
    t.match(await transact(stream, add(2), call), { state: { total: 3 } })
    t.equal(reads, 0)
  }
})

t.test('a stream that is not as new as was thought is read, and decided on again', async (t) => {
  const store = await opened(t)
  const options = { store, snapshots: snapshotsInMemory(), clock: clockFrom(call.at) }
  const stream = streamOf(sum, 'org-1', 'known')
  await transactor(options).transact(stream, add(1), call)
  const { transact } = transactor(options)
  const again = await transact({ ...stream, isNew: true }, add(2), call)
  t.match(again, { state: { total: 3, count: 2 } })
})

/** A store whose appends fail, and their number. */
const failing = async (t: Test, failure: Error) => {
  const store = await opened(t)
  let appends = 0
  const append = async () => {
    appends++
    throw failure
  }
  const snapshots = snapshotsInMemory()
  const options = { store: { ...store, append }, snapshots, clock: clock(), shared: true }
  return { ...transactor(options), appends: () => appends }
}

t.test('an append that fails without a conflict is not repeated', async (t) => {
  const { transact, appends } = await failing(t, new Error('the disk is full'))
  await t.rejects(transact(stream, add(1), call), { message: 'the disk is full' })
  t.equal(appends(), 1)
})

t.test('a decision whose every append conflicts is refused after 8 appends', async (t) => {
  const { transact, appends } = await failing(t, new RevisionConflict(stream.name, -1, 5))
  await t.rejects(transact(stream, add(1), call), { name: 'RevisionConflict' })
  t.equal(appends(), 8)
})
