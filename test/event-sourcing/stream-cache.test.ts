import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import {
  type Aggregate,
  despiteUnreadable,
  platformStreamOf,
  streamOf,
} from '../../src/domain/aggregate.ts'
import { type AnyStream, streamCache } from '../../src/event-sourcing/stream-cache.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import type { Snapshot } from '../../src/ports/snapshots.ts'
import { call, metadata } from '../support/recorded.ts'
import { clockFrom } from '../support/ticking.ts'

const text: Aggregate<string, { Written: z.ZodString }> = {
  category: 'text',
  events: { Written: z.string() },
  initial: '',
  evolve: { Written: (_, text) => text },
  weigh: ({ length }) => length,
}

const named = (name: string) => streamOf(text, 'org-1', name) as unknown as AnyStream

/** A cache with room for ten streams of this size, besides what each takes itself. */
const cacheOf = () => {
  const nothing = { get: async () => undefined, put: async () => undefined }
  const read = async function* () {}
  const cache = streamCache({ store: { read }, snapshots: nothing, keep: 10_000 })
  const used = (name: string) => {
    const cached = cache.of(named(name))
    cached.state = 'x'.repeat(500)
    cache.release(named(name), cached)
    return cached
  }
  const isKept = (name: string): boolean => cache.of(named(name)).state !== ''
  return { cache, used, isKept }
}

t.test('as many streams are kept as there is room for: those used last', async (t) => {
  const { used, isKept } = cacheOf()
  for (let n = 0; n < 100; n++) {
    used('often')
    used(`${n}`)
  }
  t.ok(isKept('often'))
  for (const name of ['96', '97', '98', '99']) t.ok(isKept(name), name)
  const retained = Array.from({ length: 96 }, (_, n) => isKept(`${n}`)).filter(Boolean)
  t.ok(retained.length < 10, `${retained.length} more`)
})

t.test('a stream is one object for as long as it is busy, whatever else is used', async (t) => {
  const { cache, used } = cacheOf()
  const busy = cache.of(named('busy'))
  busy.busy = true
  for (let n = 0; n < 100; n++) used(`${n}`)
  t.equal(cache.of(named('busy')), busy)
  cache.release(named('busy'), busy)
  for (let n = 0; n < 100; n++) used(`${n}`)
  t.not(cache.of(named('busy')), busy)
})

t.test('a stream that grows takes more room', async (t) => {
  const { cache, used, isKept } = cacheOf()
  used('first')
  const large = used('large')
  large.state = 'x'.repeat(5_000)
  cache.release(named('large'), large)
  t.ok(isKept('large'))
  used('other')
  large.state += 'x'.repeat(3_000)
  cache.release(named('large'), large)
  t.notOk(isKept('first'))
})

const events = { Counted: z.object({ by: z.number() }) }

const counter: Aggregate<number, typeof events> = {
  category: 'counter',
  events,
  initial: 0,
  evolve: { Counted: (state, { by }) => state + by },
}

const count = (by: number) => () => [{ type: 'Counted' as const, data: { by } }]

const opened = async (t: Test) => {
  const store = embeddedEventStore(await openLog({ path: t.testdir() }))
  t.teardown(() => store.close())
  const stored = new Map<string, Snapshot>()
  const snapshots = {
    get: async (name: string) => stored.get(name),
    put: async (name: string, snapshot: Snapshot) => void stored.set(name, snapshot),
  }
  const started = () =>
    transactor({ store, snapshots, clock: clockFrom('2026-01-01T00:00:00.000Z') })
  const say = (stream: string, ...all: unknown[]) =>
    store.append(
      stream,
      'any',
      all.map((data) => ({ id: randomUUID(), type: 'Counted', data, metadata })),
    )
  return { store, started, say, stored }
}

t.test('a stream with an unreadable event refuses commands, and no other stream', async (t) => {
  const { started, say } = await opened(t)
  await say('counter-one', { by: 1 }, { by: 'secret' }, { by: 2 })
  const { load, transact, begin: beginDecision } = started()
  const stream = platformStreamOf(counter, 'one')
  const unreadable = { name: 'UnreadableEvent', place: { position: 1, stream: 'counter-one' } }
  await t.rejects(transact(stream, count(1), call), unreadable)
  await t.rejects(transact(stream, count(1), call), unreadable, 'also once it is in memory')
  await t.rejects(load(stream), unreadable)
  await t.rejects(beginDecision(stream, count(1), call).stored, unreadable)
  t.match(await transact(platformStreamOf(counter, 'two'), count(1), call), { state: 1 })
})

t.test('decisions allowed despite it are made on the readable events', async (t) => {
  const { started, say } = await opened(t)
  await say('counter-one', { by: 1 }, null, { by: 2 })
  const { load, transact } = started()
  const stream = platformStreamOf(counter, 'one')
  t.match(await load(despiteUnreadable(stream)), { state: 3, revision: 2 })
  t.match(await transact(despiteUnreadable(stream), count(4), call), { state: 7, revision: 3 })
  await t.rejects(transact(stream, count(1), call), { name: 'UnreadableEvent' }, 'and nothing else')
})

t.test('a stream with an unreadable event leaves no snapshot that would hide it', async (t) => {
  const { started, say, stored } = await opened(t)
  await say('counter-one', null, ...Array.from({ length: 600 }, () => ({ by: 1 })))
  await say('counter-two', ...Array.from({ length: 600 }, () => ({ by: 1 })))
  const { load } = started()
  const stream = despiteUnreadable(platformStreamOf(counter, 'one'))
  t.match(await load(stream), { state: 600 })
  t.match(await load(platformStreamOf(counter, 'two')), { state: 600 })
  t.strictSame([...stored.keys()], ['counter-two'])
})

t.test('a state is kept as a snapshot up to 1,000,000 characters', async (t) => {
  const { started, store, stored } = await opened(t)
  const write = (stream: string, texts: readonly string[]) =>
    store.append(
      stream,
      'any',
      texts.map((data) => ({ id: randomUUID(), type: 'Written', data, metadata })),
    )
  const short = Array.from({ length: 600 }, () => 'x')
  const sizes = { fitting: 1_000_000, large: 1_000_001 }
  const { load } = started()
  for (const [name, size] of Object.entries(sizes)) {
    const stream = streamOf(text, 'org-1', name)
    await write(stream.name, short)
    await write(stream.name, ['x'.repeat(size)])
    t.equal((await load(stream)).state.length, size)
  }
  t.strictSame([...stored.keys()], [streamOf(text, 'org-1', 'fitting').name])
})

t.test('metadata that cannot be read makes a stream unreadable too', async (t) => {
  const { started, store } = await opened(t)
  const stream = platformStreamOf(counter, 'one')
  for (const [field, value] of [
    ['at', 'never'],
    ['actor', null],
    ['organization_id', 7],
    ['schema_version', 0],
  ] as const) {
    const name = `counter-${field}`
    const broken = { ...metadata, [field]: value } as typeof metadata
    const event = { id: randomUUID(), type: 'Counted', data: { by: 1 }, metadata: broken }
    await store.append(name, 'any', [event])
    await t.rejects(started().load({ ...stream, name }), {
      message: new RegExp(`invalid metadata.${field}`),
    })
  }
})
