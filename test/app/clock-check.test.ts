import t from 'tap'
import { clockCheck, warnOfClock } from '../../src/app/clock-check.ts'
import { silent } from '../../src/ports/log.ts'

const fiveMinutes = 5 * 60_000

const warningsAt = (aheadMs: number): unknown[] => {
  const warnings: unknown[] = []
  warnOfClock(aheadMs, { ...silent, warn: (...line: unknown[]) => void warnings.push(line) })
  return warnings
}

t.test('a start logs no warning for a clock up to 5 minutes behind the log', async (t) => {
  t.strictSame(clockCheck(fiveMinutes), { ok: true })
  t.strictSame(warningsAt(fiveMinutes), [])
})

t.test('a start warns of a clock more than 5 minutes behind the log', async (t) => {
  const detail = 'the latest event is 300 s ahead of the clock'
  t.strictSame(clockCheck(fiveMinutes + 1), { ok: false, detail })
  t.strictSame(warningsAt(fiveMinutes + 1), [
    [{ detail }, 'this clock is behind the events that are stored'],
  ])
})
