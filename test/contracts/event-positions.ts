import type { Test } from 'tap'
import type { Position } from '../../src/domain/event.ts'
import { type EventStore, type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { gathered, noted, streamName } from '../support/noted.ts'
import { at } from '../support/positions.ts'
import type { OpenStore } from './event-store.ts'

async function* batchesOf(...batches: readonly (readonly Position[])[]) {
  yield* batches
}

const positionsOf = (events: readonly RecordedEvent[]): Position[] =>
  events.map(({ position }) => position)

const ids = (events: readonly RecordedEvent[]) => events.map(({ id }) => id)

/**
 * Events of one stream in appends of one to three, among events of others: few and small ones, then
 * many and large ones, so that they are near each other and then far apart.
 */
const scattered = async (store: EventStore): Promise<RecordedEvent[]> => {
  const stream = streamName()
  const others = streamName()
  for (let n = 0; n < 16; n++) {
    const events = Array.from({ length: 1 + (n % 3) }, () => noted(`${n}`))
    await store.append(stream, 'any', events)
    const count = n < 12 ? n % 3 : 70
    const data = { text: 'x'.repeat(n < 12 ? 10 : 500) }
    const between = Array.from({ length: count }, () => noted('between', { data }))
    if (count > 0) await store.append(others, 'any', between)
  }
  return gathered(store.read(stream))
}

/** Positions from all appends, those just behind one of these events that are no event's. */
const vacantBehind = async (store: EventStore, events: readonly RecordedEvent[]) => {
  const occupied = new Set(positionsOf(await gathered(store.history(START))))
  return positionsOf(events)
    .map((position) => at(position + 1))
    .filter((position) => !occupied.has(position))
}

/** What every event store owes to those who keep the positions that it gave. */
export const eventPositionsContract = (t: Test, open: OpenStore): void => {
  t.test('events are found at their positions, near and far apart', async (t) => {
    const { store } = await open(t)
    const events = await scattered(store)
    const eventsAt = (...batches: Position[][]) => gathered(store.at(batchesOf(...batches)))
    t.strictSame(await eventsAt(positionsOf(events)), events, 'all at once')
    for (const event of events) t.strictSame(await eventsAt([event.position]), [event], 'one')
    for (const step of [2, 7]) {
      const some = events.filter((_, n) => n % step === 0)
      t.strictSame(await eventsAt(positionsOf(some)), some, `every ${step} of them`)
    }
    const [first, last] = [events.slice(0, 1), events.slice(-1)]
    t.strictSame(await eventsAt(positionsOf([...first, ...last])), [...first, ...last], 'the ends')
    const [head, tail] = [events.slice(0, 15), events.slice(15)]
    t.strictSame(await eventsAt(positionsOf(head), [], positionsOf(tail)), events, 'in batches')
    t.strictSame(await eventsAt([]), [])
    t.strictSame(await eventsAt(), [])
  })

  t.test('a position without an event is damage', async (t) => {
    const { store } = await open(t)
    const events = await scattered(store)
    const known = positionsOf(events)
    const beyond = at((await store.head()) + 1_000_000)
    const vacant = await vacantBehind(store, events)
    const damaged = { name: 'StoreDamaged' }
    for (const missing of [...vacant.slice(0, 2), ...vacant.slice(-2), beyond]) {
      await t.rejects(gathered(store.at(batchesOf([missing]))), damaged, 'alone')
      const among = [...known.filter((position) => position < missing), missing]
      await t.rejects(gathered(store.at(batchesOf(among))), damaged, 'behind others')
      const later = known.filter((position) => position > missing)
      await t.rejects(gathered(store.at(batchesOf([missing, ...later]))), damaged, 'before others')
    }
    t.strictSame(await gathered(store.at(batchesOf(known))), events, 'and the others are there')
  })

  t.test('a reader of positions may leave', async (t) => {
    const { store } = await open(t)
    const events = await scattered(store)
    let left = false
    async function* positions() {
      try {
        for (const position of positionsOf(events)) yield [position]
      } finally {
        left = true
      }
    }
    const read: RecordedEvent[] = []
    for await (const batch of store.at(positions())) {
      read.push(...batch)
      if (read.length >= 5) break
    }
    t.strictSame(read, events.slice(0, 5), 'no more are asked for than are taken')
    t.ok(left, 'and who asks is told')
    t.strictSame(await gathered(store.at(batchesOf(positionsOf(events)))), events)
  })

  t.test('history and feeds go on after any event', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    await scattered(store)
    const all = await gathered(store.history(before))
    for (const n of [0, 1, 2, 3, 4, 25, all.length - 2, all.length - 1]) {
      const { position } = all[n] ?? { position: START }
      const rest = ids(all.slice(n + 1))
      t.strictSame(ids(await gathered(store.history(position))), rest, `history after ${n}`)
      const feedEvents: RecordedEvent[] = []
      if (rest.length > 0)
        for await (const { events } of store.feed(position)) {
          feedEvents.push(...events)
          if (feedEvents.length >= rest.length) break
        }
      t.strictSame(ids(feedEvents).slice(0, rest.length), rest, `feed after ${n}`)
    }
  })

  t.test('a feed goes on from where each of its batches has come', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    await scattered(store)
    const all = await gathered(store.history(before))
    const feedEvents: RecordedEvent[] = []
    for (let position = before; feedEvents.length < all.length; )
      for await (const batch of store.feed(position)) {
        feedEvents.push(...batch.events)
        t.ok(batch.position >= (batch.events.at(-1)?.position ?? position))
        position = batch.position
        break
      }
    t.strictSame(ids(feedEvents), ids(all))
  })

  t.test('no feed comes further than the end, which is not before the head', async (t) => {
    const { store } = await open(t)
    const before = await store.head()
    const events = await scattered(store)
    t.ok((await store.end()) >= (await store.head()))
    let count = 0
    for await (const batch of store.feed(before)) {
      t.ok(batch.position <= (await store.end()))
      count += batch.events.length
      if (count >= events.length) break
    }
  })

  t.test('a distance grows along the log', async (t) => {
    const { store } = await open(t)
    const [first, second, third] = positionsOf(await scattered(store)).slice(-3)
    if (first === undefined || second === undefined || third === undefined) return t.fail()
    const { amount, unit } = store.distance(first, third)
    t.ok(amount > 0)
    t.equal(store.distance(first, second).amount + store.distance(second, third).amount, amount)
    t.strictSame(store.distance(third, first), { amount: 0, unit }, 'none backwards')
    t.strictSame(store.distance(third, third), { amount: 0, unit })
    t.ok(store.distance(START, third).amount > amount)
  })
}
