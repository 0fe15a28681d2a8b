import t from 'tap'
import { isoTime } from '../../src/support/iso-time.ts'

t.test('a time is written as a Date writes it', async (t) => {
  const base = Date.parse('2026-11-23T05:59:59.000Z')
  for (const after of [0, 1, 10, 99, 100, 999, 1_000, 1_001, 60_000, 999, 0])
    t.equal(isoTime(base + after), new Date(base + after).toISOString())
  for (const ms of [0, -1, -1_000, 8.64e15, -8.64e15, Date.parse('-000001-01-01T00:00:00.005Z')])
    t.equal(isoTime(ms), new Date(ms).toISOString())
})
