import t from 'tap'
import {
  changeOf,
  daysUpTo,
  largestGroups,
  valuesByDay,
} from '../../console/src/screens/overview/usage-series.ts'

const days = daysUpTo('2026-03-01', 3)
const rows = [
  { day: '2026-02-28', agent: 'a', runs: 3 },
  { day: '2026-03-01', agent: 'a', runs: 1 },
  { day: '2026-03-01', agent: 'b', runs: 2 },
  { day: '2026-03-01', agent: 'c', runs: 1 },
  { day: '2026-03-01', agent: 'd', runs: 0 },
]

t.test('counts days back from one, across the end of a month', async (t) => {
  t.strictSame(days, ['2026-02-27', '2026-02-28', '2026-03-01'])
})

t.test('has a value for each day, also for those without a row', async (t) => {
  const single = rows.filter(({ agent }) => agent === 'a')
  t.strictSame(
    valuesByDay(single, days, ({ runs }) => runs),
    [0, 3, 1],
  )
  t.strictSame(
    valuesByDay(single, days, ({ runs }) => runs, null),
    [null, 3, 1],
  )
})

const group = {
  key: ({ agent }: { agent: string }) => agent,
  name: (id: string) => id.toUpperCase(),
  value: ({ runs }: { runs: number }) => runs,
}

t.test('has a series for each group, the largest first, and none for empty groups', async (t) => {
  t.strictSame(largestGroups(rows, days, { ...group, most: 3 }), [
    { label: 'A', values: [0, 3, 1] },
    { label: 'B', values: [0, 0, 2] },
    { label: 'C', values: [0, 0, 1] },
  ])
})

t.test('adds up the smaller groups as one', async (t) => {
  t.strictSame(largestGroups(rows, days, { ...group, most: 2 }), [
    { label: 'A', values: [0, 3, 1] },
    { label: 'Other', values: [0, 0, 3] },
  ])
})

t.test('has no change from nothing', async (t) => {
  t.equal(changeOf(0, 5), null)
  t.equal(changeOf(4, 5), 0.25)
})
