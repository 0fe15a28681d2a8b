import fc from 'fast-check'
import t from 'tap'
import { encoded } from '../../../src/adapters/embedded/key-encoder.ts'
import { keyRanges } from '../../../src/adapters/embedded/key-ranges.ts'

const bytesOf = (n: number): Buffer => {
  const { bytes, length } = encoded(n)
  return Buffer.from(bytes.subarray(0, length))
}

const begin = Buffer.alloc(0)
const place = fc.nat(40)
/** From a number on, or from the beginning, to before another, or to the end. */
const range = fc.tuple(place, place, fc.boolean(), fc.boolean()).map(([a, b, open, endless]) => ({
  from: open ? -1 : Math.min(a, b),
  to: endless ? 100 : Math.max(a, b) + 1,
}))
const boundsOf = ({ from, to }: { from: number; to: number }) =>
  [from < 0 ? begin : bytesOf(from), to >= 100 ? undefined : bytesOf(to)] as const

t.test('a key is in the ranges that were added', async (t) => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), (added) => {
      const ranges = keyRanges()
      for (const one of added) ranges.add(...boundsOf(one))
      for (let n = 0; n < 45; n++) {
        const is = added.some(({ from, to }) => n >= from && n < to)
        t.equal(ranges.has(encoded(n)), is, `${n}`)
      }
    }),
  )
})

t.test('a range is used so often, and ends where another takes its place', async (t) => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), fc.array(place), (added, used) => {
      const ranges = keyRanges()
      let left: { from: number; to: number; uses: number }[] = []
      for (const [n, one] of added.entries()) {
        ranges.replace(...boundsOf(one), n % 3)
        left = left.filter(({ from, to }) => to <= one.from || from >= one.to)
        left.push({ ...one, uses: n % 3 })
      }
      for (const n of used) {
        const at = left.find(({ from, to }) => n >= from && n < to)
        t.equal(ranges.takes(encoded(n)), at !== undefined && at.uses-- > 0, `${n}`)
      }
    }),
  )
})

t.test('there are only so many: then it begins anew', async (t) => {
  const ranges = keyRanges()
  for (let n = 0; n < 5_000; n++) ranges.add(bytesOf(3 * n), bytesOf(3 * n + 1))
  t.notOk(ranges.has(encoded(0)))
  t.ok(ranges.has(encoded(3 * 4_999)))
  ranges.clear()
  t.notOk(ranges.has(encoded(3 * 4_999)))
})
