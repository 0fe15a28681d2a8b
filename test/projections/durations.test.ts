import fc from 'fast-check'
import t from 'tap'
import { quantile, together, withDuration } from '../../projections/durations.ts'

const of = (all: readonly number[]) => all.reduce(withDuration, {})

t.test('a quantile is at most 5 % off, also of two put together', async (t) => {
  const many = fc.array(fc.double({ min: 1, max: 3_600_000, noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(many, many, fc.double({ min: 0.01, max: 1, noNaN: true }), (a, b, share) => {
      const all = [...a, ...b].sort((left, right) => left - right)
      const exact = all[Math.ceil(share * all.length) - 1] ?? 0
      const estimate = quantile(together([of(a), of(b)]), share) ?? 0
      return Math.abs(estimate - exact) <= exact * 0.05 + 0.6
    }),
  )
  t.equal(quantile({}, 0.5), null)
  t.equal(quantile(of([0, 0, 0]), 0.95), 1)
})
