import t, { type Test } from 'tap'
import { z } from 'zod'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { type Aggregate, type EventOf, streamOf } from '../../src/domain/aggregate.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import type { EventStore } from '../../src/ports/event-store.ts'
import { call } from '../support/recorded.ts'
import { clockFrom } from '../support/ticking.ts'

const events = {
  Weighed: z.object({
    grams: z.int().min(0),
    note: z.string().optional(),
    free: z.record(z.string(), z.unknown()).optional(),
  }),
}
type Weighed = EventOf<typeof events>
type Data = Weighed['data']

const scale: Aggregate<{ grams: number; last: Data | null }, typeof events> = {
  category: 'scale',
  events,
  initial: { grams: 0, last: null },
  evolve: { Weighed: ({ grams }, data) => ({ grams: grams + data.grams, last: data }) },
}

const stream = streamOf(scale, 'org-1', 's-1')
const weighed = (data: Data) => (): Weighed[] => [{ type: 'Weighed', data }]

const noSnapshots = { get: async () => undefined, put: async () => undefined }

const opened = async (t: Test, shared = false) => {
  const store = embeddedEventStore(await openLog({ path: t.testdir() }))
  t.teardown(() => store.close())
  const logged: unknown[] = []
  const log = { error: (fields: unknown) => void logged.push(fields) }
  const uses = { store, snapshots: noSnapshots, clock: clockFrom(call.at), log, shared }
  return { store, logged, uses, ...transactor(uses) }
}

const storedIn = async (store: EventStore) => {
  const all = []
  for await (const batch of store.history(-1 as never)) all.push(...batch)
  return all.map(({ data }) => data)
}

const misfits: readonly (readonly [name: string, data: unknown, path: string])[] = [
  ['below its least', { grams: -1 }, 'data.grams'],
  ['not exact any more', { grams: 2 ** 53 }, 'data.grams'],
  ['no number', { grams: Number.NaN }, 'data.grams'],
  ['missing', {}, 'data.grams'],
  ['undefined', { grams: undefined }, 'data.grams'],
  ['half a character', { grams: 1, note: '\ud800' }, 'data.note'],
  ['a gap in free JSON', { grams: 1, free: { list: [undefined] } }, 'data.free.list.0'],
  ['no number in free JSON', { grams: 1, free: { n: Number.POSITIVE_INFINITY } }, 'data.free.n'],
  ['half a character in free JSON', { grams: 1, free: { a: ['\udc00'] } }, 'data.free.a.0'],
  ['a date in free JSON', { grams: 1, free: { at: new Date(0) } }, 'data.free.at'],
]

for (const shared of [false, true])
  for (const [name, data, path] of misfits)
    t.test(`a misfit (${name}) is not stored, ${shared ? 'shared' : 'alone'}`, async (t) => {
      const { store, logged, transact, load } = await opened(t, shared)
      const error = { name: 'EventMisfit', event: 'Weighed', path }
      const results = await Promise.allSettled([
        transact(stream, weighed({ grams: 1 }), call),
        transact(stream, weighed(data as Data), call),
        transact(stream, weighed({ grams: 2 }), call),
      ])
      t.match(results, [
        { value: { state: { grams: 1 } } },
        { reason: error },
        { value: { state: { grams: 3 } } },
      ])
      t.strictSame(await storedIn(store), [{ grams: 1 }, { grams: 2 }])
      t.match((await load(stream)).state, { grams: 3 })
      t.strictSame(logged, [{ event: 'Weighed', path, reqId: call.requestId }])
    })

t.test('a decision of many events is stored whole or not at all', async (t) => {
  const { store, transact } = await opened(t)
  const both = (): Weighed[] => [
    { type: 'Weighed', data: { grams: 1 } },
    { type: 'Weighed', data: { grams: -1 } },
  ]
  await t.rejects(transact(stream, both, call), { name: 'EventMisfit' })
  t.strictSame(await storedIn(store), [])
})

t.test('metadata that cannot be read is not stored', async (t) => {
  const { store, transact } = await opened(t)
  for (const [wrong, path] of [
    [{ requestId: '\ud800' }, 'metadata.request_id'],
    [{ requestId: undefined }, 'metadata.request_id'],
    [{ organizationId: 7 }, 'metadata.organization_id'],
    [{ userId: '\udc00' }, 'metadata.actor.user_id'],
    [{ trace: { traceId: 7 } }, 'metadata.trace_id'],
  ] as const)
    await t.rejects(
      transact(stream, weighed({ grams: 1 }), { ...call, ...wrong } as never),
      { name: 'EventMisfit', path },
      path,
    )
  t.strictSame(await storedIn(store), [])
})

t.test('an event of another table is not stored', async (t) => {
  const { transact } = await opened(t)
  for (const type of ['Melted', 'constructor', '__proto__']) {
    const other = () => [{ type, data: {} }] as never
    await t.rejects(transact(stream, other, call), { name: 'EventMisfit', path: 'type' })
  }
})

t.test('callers that wait for a decision get its misfit', async (t) => {
  for (const shared of [false, true]) {
    const { begin: beginDecision } = await opened(t, shared)
    const { decided, stored } = beginDecision(stream, weighed({ grams: -1 }), call)
    await t.rejects(Promise.resolve(decided), { name: 'EventMisfit' })
    await t.rejects(stored, { name: 'EventMisfit' })
  }
})

t.test('a state is folded from the events as they will be read', async (t) => {
  const { transact, uses } = await opened(t)
  const given = { grams: 1, note: undefined, more: 'unknown' } as unknown as Data
  const { state } = await transact(stream, weighed(given), call)
  t.strictSame(state, { grams: 1, last: { grams: 1 } })
  t.strictSame((await transactor(uses).load(stream)).state, state)
})

t.test('a decision that is too large to append fails alone', async (t) => {
  const { store, transact } = await opened(t)
  const text = (length: number) => weighed({ grams: 1, note: 'x'.repeat(length) })
  const results = await Promise.allSettled([
    transact(stream, weighed({ grams: 1 }), call),
    transact(stream, text(1_048_576), call),
    transact(stream, text(1_000_000), call),
    // As JSON, each of these takes six bytes.
    transact(stream, weighed({ grams: 1, note: '\u0001'.repeat(180_000) }), call),
    transact(stream, weighed({ grams: 2 }), call),
  ])
  t.strictSame(
    results.map((result) => (result.status === 'fulfilled' ? 'stored' : result.reason.name)),
    ['stored', 'AppendTooLarge', 'stored', 'AppendTooLarge', 'stored'],
  )
  t.equal((await storedIn(store)).length, 3)
})
