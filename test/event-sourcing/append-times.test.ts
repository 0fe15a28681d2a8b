import fc from 'fast-check'
import t from 'tap'
import { appendTimes } from '../../src/event-sourcing/append-times.ts'
import type { EventStore } from '../../src/ports/event-store.ts'
import { deferred } from '../../src/support/deferred.ts'
import { heldLog } from '../support/held-log.ts'
import { gathered } from '../support/noted.ts'
import { at } from '../support/positions.ts'
import { metadata, recorded } from '../support/recorded.ts'

const start = Date.UTC(2026, 0, 1)

/** Times by a clock that is set by hand, in seconds. */
const timing = () => {
  const clock = { seconds: 0 }
  const times = appendTimes({ now: () => new Date(start + clock.seconds * 1_000) })
  return { clock, times, stamp: () => (Date.parse(times.stamp()) - start) / 1_000 }
}

const events = recorded(
  [5, 7, 3].map((seconds) => ({
    stream: 'box-org-1_b-1',
    type: 'BoxOpened',
    data: {},
    metadata: { ...metadata, at: new Date(start + seconds * 1_000).toISOString() },
  })),
)

t.test('times follow the clock and never go back', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -100, max: 100 })), (moments) => {
      const { clock, stamp } = timing()
      let latest = Number.NEGATIVE_INFINITY
      for (const seconds of moments) {
        clock.seconds = seconds
        latest = Math.max(latest, seconds)
        if (stamp() !== latest) return false
      }
      return true
    }),
  )
  t.pass('whatever the clock does')
})

t.test('no time is earlier than that of an event that was read', async (t) => {
  const { times, stamp } = timing()
  const store = heldLog(events)
  t.equal(stamp(), 0)
  await times.resume(store)
  t.equal(stamp(), 3, 'the last event that is stored')
  const feed = async function* () {
    yield { events: events.slice(0, 1), position: at(0) }
  }
  const none = async () => {
    throw new Error('not asked for')
  }
  const distance = () => ({ amount: 0, unit: 'events' as const })
  const end = store.head
  const noting = times.noting({ ...store, feed, append: none, close: none, distance, end })
  await gathered(
    (async function* () {
      for await (const batch of noting.feed(at(0))) yield batch.events
    })(),
  )
  t.equal(stamp(), 5)
  await gathered(noting.read('box-org-1_b-1'))
  t.equal(stamp(), 7)
})

t.test('a store that notes times yields all events that it reads, in their batches', async (t) => {
  const { times } = timing()
  const store = heldLog(events)
  const batch = { events, position: at(2) }
  const noting = times.noting({
    ...store,
    feed: async function* () {
      yield batch
    },
  } as unknown as EventStore)
  t.strictSame(await gathered(noting.read('box-org-1_b-1')), events)
  const batches: unknown[] = []
  for await (const batch of noting.feed(at(0))) batches.push(batch)
  t.strictSame(batches, [batch])
})

t.test('a time has passed once no event can be stored with it', async (t) => {
  const { clock, times, stamp } = timing()
  clock.seconds = 10
  const append = deferred<void>()
  times.began(append.promise)
  let passed = false
  const passing = times.passed(start + 10_000).then(() => {
    passed = true
  })
  t.equal(stamp(), 10.001, 'what comes is later')
  await new Promise(setImmediate)
  t.notOk(passed, 'an append is under way')
  append.resolve()
  await passing
  times.ended(append.promise)
  await times.passed(start + 99_000)
  t.equal(stamp(), 10.001, 'a time to come is not passed')
  times.began(Promise.reject(new Error('no')))
  await times.passed(start)
})

t.test('reports how far the latest event is ahead of the clock', async (t) => {
  const { clock, times } = timing()
  t.equal(times.aheadMs(), 0, 'no event')
  await times.resume(heldLog(events))
  t.equal(times.aheadMs(), 3_000)
  clock.seconds = 10
  t.equal(times.aheadMs(), 0)
})

t.test('a past time stays past after the clock is set back', async (t) => {
  const { clock, times, stamp } = timing()
  clock.seconds = 60
  const last = stamp()
  clock.seconds = 0
  await times.passed(start + last * 1_000)
  t.ok(stamp() > last, 'what is appended now is later')
})

t.test('an append that has ended is not waited for again', async (t) => {
  const { times } = timing()
  const appends = Array.from({ length: 100 }, () => new Promise(() => undefined))
  for (const append of appends) times.began(append)
  for (const append of appends) times.ended(append)
  await times.passed(start)
  t.pass('although none of them has settled')
})
