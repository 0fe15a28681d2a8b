import fc from 'fast-check'
import t from 'tap'
import { sinceStored, stopwatch } from '../../src/support/stopwatch.ts'

t.test('a stopwatch counts whole milliseconds of the monotonic clock', async (t) => {
  let passed = 0.4
  const elapsed = stopwatch({ monotonic: () => passed })
  t.equal(elapsed(), 0)
  passed = 12.1
  t.equal(elapsed(), 12)
})

t.test('a stopwatch continues from earlier milliseconds', async (t) => {
  let passed = 1_000
  const elapsed = stopwatch({ monotonic: () => passed }, 500)
  passed = 1_200
  t.equal(elapsed(), 700)
})

t.test('the time since a stored moment is at least 0, whatever the clock says', async (t) => {
  const day = fc.date({ noInvalidDate: true })
  fc.assert(
    fc.property(day, day, (now, at) => {
      const passed = sinceStored({ now: () => now }, at.toISOString())
      return passed === Math.max(0, now.getTime() - at.getTime())
    }),
  )
  t.pass()
})
