import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { type NewRecord, placed, recordOf } from '../../../src/adapters/embedded/record.ts'
import { recentTail } from '../../../src/adapters/embedded/tail.ts'
import { START } from '../../../src/ports/event-store.ts'
import { noted } from '../../support/noted.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** The record of the two events that end at position 2n + 1. */
const record = (n: number): NewRecord =>
  placed(recordOf('note-1', 2 * n, [noted('a'), noted('b')]), 2 * n - 1, 2 * n + 1)

const filled = (count: number, maxBytes = Number.POSITIVE_INFINITY) => {
  const tail = recentTail(maxBytes)
  for (let n = 0; n < count; n++) tail.push(record(n))
  const positions = (after: number, most = 10_000) =>
    tail.after(after, most)?.map(({ position }) => Number(position))
  return { tail, positions }
}

t.test('a reader that is not behind the oldest record gets what follows', async (t) => {
  t.equal(filled(0).positions(START), undefined)
  const { positions } = filled(3)
  t.strictSame(positions(START), [0, 1, 2, 3, 4, 5])
  t.strictSame(positions(2), [3, 4, 5])
  t.strictSame(positions(2, 1), [3], 'whole records, until there are enough')
  t.strictSame(positions(5), [])
})

t.test('512 records are kept, however many have come', async (t) => {
  for (const count of [512, 513, 1_023, 1_024, 1_025, 3_000]) {
    const { positions } = filled(count)
    const end = 2 * count - 1
    const before = end - 1_024
    t.strictSame(positions(before)?.length, 1_024, `${count}`)
    t.strictSame(positions(before)?.at(-1), end)
    t.strictSame(positions(end - 3), [end - 2, end - 1, end])
    t.equal(positions(before - 1), undefined)
  }
})

t.test('fewer are kept where they are large', async (t) => {
  const { length } = record(999).bytes
  const { positions } = filled(1_000, 10 * length + 5)
  t.strictSame(positions(1_979)?.length, 20)
  t.equal(positions(1_978), undefined)
  t.equal(filled(10, 1).positions(19), undefined, 'none where one is too large')
})

t.test('drops records that all feeds have read', async (t) => {
  const { tail, positions } = filled(10)
  tail.passed(7)
  t.equal(positions(6), undefined)
  t.strictSame(positions(7)?.length, 12)
  tail.passed(8)
  t.strictSame(positions(8)?.length, 11, 'a record of which one event is not read is kept')
  tail.passed(Number.POSITIVE_INFINITY)
  t.equal(positions(19), undefined)
  tail.push(record(10))
  t.strictSame(positions(19), [20, 21])
})

t.test('a record that is dropped is held no longer', async (t) => {
  const tail = recentTail(Number.POSITIVE_INFINITY)
  const refs: WeakRef<NewRecord>[] = []
  for (let n = 0; n < 600; n++) {
    const entry = record(n)
    refs.push(new WeakRef(entry))
    tail.push(entry)
  }
  // What a WeakRef was asked for or made of is held until the end of the job.
  await setImmediate()
  collect()
  t.equal(refs.filter((ref) => ref.deref() !== undefined).length, 512)
  t.equal(tail.after(1_199, 1)?.length, 0)
})
