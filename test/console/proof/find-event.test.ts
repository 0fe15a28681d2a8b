import fc from 'fast-check'
import t from 'tap'
import { utf8 } from '../../../console/src/proof/bytes.ts'
import { findEvent } from '../../../console/src/proof/find-event.ts'

/** Searches among events at these positions; `reads` counts the events that it read. */
const searching = (size: number, positionAt: (index: number) => number) => {
  let reads = 0
  return {
    reads: () => reads,
    find: async (position: number, likely?: number) => {
      const match = await findEvent({
        size,
        position,
        likely,
        read: async (index) => {
          reads++
          return { line: utf8(''), position: positionAt(index), value: {} }
        },
      })
      return match?.index
    },
  }
}

t.test('every event is found by its position, and nothing between them', async (t) => {
  const positions = fc.uniqueArray(fc.nat({ max: 10_000 }), { minLength: 1, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(
      positions,
      fc.nat({ max: 10_001 }),
      fc.option(fc.nat()),
      async (all, position, n) => {
        const sorted = all.toSorted((left, right) => left - right)
        const { find } = searching(sorted.length, (index) => sorted[index] ?? Number.NaN)
        const likely = n === null ? undefined : n
        const index = sorted.indexOf(position)
        const result = await find(position, likely)
        if (result !== (index < 0 ? undefined : index)) return false
        const other = sorted[position % sorted.length] ?? 0
        return (await find(other, likely)) === sorted.indexOf(other)
      },
    ),
  )
  t.pass('for any positions')
})

t.test('a likely index is tried first', async (t) => {
  const { find, reads } = searching(1_000_000, (index) => index ** 2)
  t.equal(await find(400, 20), 20)
  t.equal(reads(), 1)
})

t.test('the number of reads is bounded by the height of the tree', async (t) => {
  const size = 1_000_000_000
  for (const positionAt of [
    (index: number) => index * 7,
    (index: number) => Math.floor(1.00000002 ** index * 1_000_000) + index,
    (index: number) => (index < 10 ? index : index + 1e15),
  ])
    for (const index of [0, 1, 9, 10, 123_456_789, size - 2, size - 1]) {
      const { find, reads } = searching(size, positionAt)
      t.equal(await find(positionAt(index)), index)
      t.ok(reads() <= 2 * Math.ceil(Math.log2(size)) + 4, `${reads()} reads`)
    }
})

t.test('evenly spaced events are found in a few reads', async (t) => {
  const { find, reads } = searching(1_000_000, (index) => index * 10)
  t.equal(await find(6_543_210), 654_321)
  t.ok(reads() <= 4, `${reads()} reads`)
})

t.test('positions that do not ascend end the search', async (t) => {
  for (const position of [0, 50]) {
    const { find, reads } = searching(1_000, () => 500)
    await t.rejects(find(position), {
      name: 'VerificationFailed',
      failure: { reason: 'malformed', part: 'event' },
    })
    t.ok(reads() < 5)
  }
})

t.test('a position that no event can have is not searched for', async (t) => {
  for (const position of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const { find, reads } = searching(1_000, (index) => index)
    t.equal(await find(position), undefined)
    t.equal(reads(), 0)
  }
})

t.test('an empty history has no event', async (t) => {
  t.equal(await searching(0, () => 0).find(5), undefined)
})
