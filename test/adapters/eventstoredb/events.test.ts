import {
  AccessDeniedError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  type ResolvedEvent,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import t from 'tap'
import {
  isCutOff,
  isLeaderless,
  isOutage,
  portError,
} from '../../../src/adapters/eventstoredb/errors.ts'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import { positionOf, recorded } from '../../../src/adapters/eventstoredb/events.ts'
import { namespaceOf } from '../../../src/adapters/eventstoredb/namespace.ts'
import { START, StoreDamaged } from '../../../src/ports/event-store.ts'
import { eventStoreDbDouble } from '../../support/eventstoredb-double/double.ts'
import { gathered, noted, streamName } from '../../support/noted.ts'

t.test('the events of the server itself are not seen', async (t) => {
  const double = await eventStoreDbDouble()
  const store = eventStoreDbEventStore({ url: double.url })
  t.teardown(async () => {
    await store.close()
    double.stop()
  })
  t.equal(await store.head(), START)
  for (let n = 0; n < 150; n++) await store.append(streamName(), START, [noted(`${n}`)])
  const own = double.log.all.filter(({ stream }) => stream.startsWith('reprise.'))
  const last = double.log.all.at(-1)
  t.equal(last?.type, '$statsCollected', 'though they come last')
  t.equal(await store.head(), Number(own.at(-1)?.position))
  const history = await gathered(store.history(START))
  t.strictSame(
    history.map(({ id }) => id),
    own.map(({ id }) => id),
  )
  const next = noted('next')
  const feed = store.feed(await store.head())[Symbol.asyncIterator]()
  await store.append(streamName(), START, [next])
  // A batch without events says how far the feed is.
  let batch = (await feed.next()).value
  while (batch?.events.length === 0) batch = (await feed.next()).value
  t.match(batch, { events: [{ id: next.id }] }, 'a feed passes over them')
  await feed.return?.()
})

t.test('refuses data that cannot be sent without calling the server', async (t) => {
  const store = eventStoreDbEventStore({ url: 'esdb://127.0.0.1:1?tls=false' })
  t.teardown(() => store.close())
  const circular: Record<string, unknown> = {}
  circular.self = circular
  for (const data of [undefined, 1n, circular])
    await t.rejects(store.append('note-1', START, [noted('', { data })]), TypeError)
})

t.test('a URL that would hide conflicts is refused', async (t) => {
  const url = 'esdb://127.0.0.1:2113?tls=false&throwOnAppendFailure=false'
  t.throws(() => eventStoreDbEventStore({ url }), TypeError)
  t.throws(() => eventStoreDbEventStore({ url: 'nothing' }))
})

t.test("errors in the port's words", async (t) => {
  const conflict = (expected: bigint | 'any' | 'no_stream', current: bigint | 'no_stream') =>
    portError(new WrongExpectedVersionError(undefined, { streamName: 's', expected, current }))
  t.match(conflict(4n, 7n), { name: 'RevisionConflict', stream: 's', actual: 7 })
  t.match(conflict('no_stream', 0n), { actual: 0, message: 's is at revision 0, not -1' })
  t.match(conflict('any', 'no_stream'), { actual: -1, message: 's is at revision -1, not any' })
  t.match(portError(new MaxAppendSizeExceededError(undefined, 9)), { name: 'AppendTooLarge' })
  const denied = new AccessDeniedError()
  t.match(portError(denied), { name: 'StoreUnavailable', cause: denied })
  t.notOk(isOutage(denied))
  t.notOk(isCutOff(denied))
  t.ok(isOutage(new Error('Channel has been shut down')))
  t.ok(isCutOff(new Error('Channel has been shut down')))
  t.ok(isOutage(new DeadlineExceededError()))
  t.notOk(isCutOff(new DeadlineExceededError()), 'late is not gone')
  const unready = (message: string) => new UnknownError(undefined, `Could not recognize ${message}`)
  t.ok(isOutage(unready('Server Is Too Busy')))
  t.notOk(isLeaderless(unready('Server Is Too Busy')), 'the same server is asked again')
  t.ok(isLeaderless(unready('Server Is Not Ready')), 'another may know a leader')
  t.notOk(isOutage(new UnknownError(undefined, 'Unexpected ReadAllResult: Error')))
})

t.test('a position that is not one number is said', async (t) => {
  t.equal(positionOf({ commit: 7n, prepare: 7n }), 7)
  t.throws(() => positionOf({ commit: 7n, prepare: 5n }), StoreDamaged)
  t.throws(() => positionOf({ commit: 2n ** 60n, prepare: 2n ** 60n }), StoreDamaged)
  const event = { streamId: 's', id: 'i', revision: 0n, type: 'T', isJson: true, data: {} }
  const resolved = { event: { ...event, metadata: {}, created: new Date(0) } } as ResolvedEvent
  t.throws(() => recorded(namespaceOf('reprise'), resolved), StoreDamaged)
})
