import t from 'tap'
import { formatDuration } from '../../console/src/format/duration.ts'
import {
  formatBytes,
  formatCompact,
  formatCredits,
  formatNumber,
  formatPercent,
} from '../../console/src/format/numbers.ts'
import { formatAbsolute, formatDay, formatRelative } from '../../console/src/format/time.ts'

const cases = (
  title: string,
  format: (value: number | null | undefined) => string,
  values: readonly (readonly [number | null | undefined, string])[],
) =>
  t.test(title, async (t) => {
    for (const [value, text] of values) t.equal(format(value), text, `${value}`)
  })

cases('formats durations in two parts at most', formatDuration, [
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [1_250, '1.25 s'],
  [59_940, '59.9 s'],
  [59_990, '1 min'],
  [125_000, '2 min 5 s'],
  [3_599_900, '60 min'],
  [11_520_000, '3 h 12 min'],
  [352_800_000, '4 d 2 h'],
  [null, '–'],
])

cases('formats credits, the smallest with two significant digits', formatCredits, [
  [0, '0.00'],
  [1_234.5, '1,234.50'],
  [0.01, '0.01'],
  [0.000_123_4, '0.00012'],
  [-0.5, '-0.50'],
  [undefined, '–'],
])

cases('formats counts with separators', formatNumber, [
  [12_345, '12,345'],
  [null, '–'],
])

cases('formats large counts in short', formatCompact, [
  [999, '999'],
  [12_345, '12.3K'],
  [4_000_000, '4M'],
])

cases('formats ratios as percentages', formatPercent, [
  [0.1234, '12.3%'],
  [Number.NaN, '–'],
])

cases('formats sizes in units of 1,000', formatBytes, [
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_500, '1.5 kB'],
  [250_000_000, '250 MB'],
  [1e15, '1000 TB'],
])

const now = new Date('2026-11-26T16:30:00Z')

t.test('formats a time as its distance from now', async (t) => {
  for (const [at, text] of [
    ['2026-11-26T16:29:57Z', 'now'],
    ['2026-11-26T16:29:30Z', '30 sec. ago'],
    ['2026-11-26T16:25:00Z', '5 min. ago'],
    ['2026-11-26T18:30:00Z', 'in 2 hr.'],
    ['2026-11-23T16:30:00Z', '3 days ago'],
    ['2026-06-26T16:30:00Z', '5 mo. ago'],
    ['2020-11-26T16:30:00Z', '6 yr. ago'],
  ] as const)
    t.equal(formatRelative(new Date(at), now), text)
})

t.test('formats a time with its zone', async (t) => {
  t.equal(formatAbsolute(now, 'UTC'), '26 Nov 2026, 16:30:00 UTC')
  t.equal(formatAbsolute(now, 'Asia/Tokyo'), '27 Nov 2026, 01:30:00 GMT+9')
})

t.test('formats a day of UTC in every zone alike', async (t) => {
  t.equal(formatDay('2026-11-26'), '26 Nov')
})
