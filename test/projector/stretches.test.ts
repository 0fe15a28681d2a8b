import t from 'tap'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { type Stretch, stretches } from '../../src/projector/stretches.ts'
import { noted } from '../support/noted.ts'
import { at } from '../support/positions.ts'

const event = (n: number): RecordedEvent => ({
  ...noted(`${n}`),
  stream: 'note-1',
  revision: n,
  position: at(n),
})

/** A log of so many events, whose feed gives them in batches of these sizes. */
const logOf = (end: () => number, sizes: readonly number[]) => {
  const headReads: number[] = []
  return {
    headReads,
    async *feed() {
      let next = 0
      for (const size of sizes) {
        const events = Array.from({ length: size }, (_, n) => event(next + n))
        next += size
        yield { events, position: at(next - 1) }
      }
    },
    async head() {
      headReads.push(end())
      return at(end() - 1)
    },
    distance: (from: number, to: number) => ({
      amount: Math.max(0, to - from),
      unit: 'events' as const,
    }),
  }
}

const all = async (log: ReturnType<typeof logOf>, gathered = false): Promise<Stretch[]> => {
  const results: Stretch[] = []
  const { signal } = new AbortController()
  for await (const stretch of stretches(log, START, signal, gathered)) results.push(stretch)
  return results
}

const sizesOf = (results: readonly Stretch[]) =>
  results.map(({ events, more }) => [events.length, more])

t.test('far from the end, batches are joined; near it they come as they are', async (t) => {
  const log = logOf(() => 15_000, Array<number>(15).fill(1_000))
  const results = await all(log)
  t.strictSame(sizesOf(results), [
    [4_000, true],
    [3_000, false],
    ...Array.from({ length: 8 }, () => [1_000, false]),
  ])
  const events = results.flatMap(({ events }) => events)
  t.strictSame(
    events.map(({ position }) => position),
    Array.from({ length: 15_000 }, (_, n) => n),
    'no gap, no double',
  )
  t.ok(results.every(({ events, position }) => events.at(-1)?.position === position))
})

t.test('where events were gathered, all up to the end of the log are joined', async (t) => {
  const log = logOf(() => 5_700, [1_000, 1_000, 1_000, 1_000, 1_000, 700])
  t.strictSame(sizesOf(await all(log, true)), [
    [4_000, true],
    [1_700, false],
  ])
  t.strictSame(
    sizesOf(
      await all(
        logOf(() => 1_000, [1_000]),
        true,
      ),
    ),
    [[1_000, false]],
  )
})

t.test('a feed at the end of the log is not asked where that is', async (t) => {
  const log = logOf(() => 1_000_000, [1, 20, 3])
  t.strictSame(sizesOf(await all(log)), [
    [1, false],
    [20, false],
    [3, false],
  ])
  t.strictSame(log.headReads, [])
})

t.test('a log that grows meanwhile is still far', async (t) => {
  let end = 9_001
  const log = logOf(() => end++ && end + 8_000, Array<number>(4).fill(1_000))
  const results = await all(log)
  t.ok(results.every(({ events }) => events.length <= 4_000))
  t.equal(
    results.reduce((sum, { events }) => sum + events.length, 0),
    4_000,
  )
})
