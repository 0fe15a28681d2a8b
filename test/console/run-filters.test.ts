import t from 'tap'
import { turnsOf } from '../../console/src/screens/run/turns.ts'
import {
  filtersOf,
  isFiltered,
  queryOf,
  runFilters,
} from '../../console/src/screens/runs/filters.ts'

const now = new Date('2026-11-26T12:00:00.000Z')

t.test('an address with unknown values opens the list without them', async (t) => {
  const search = runFilters.parse({ status: 'lost', sort: 'name', range: '2y', model: 'a/b' })
  t.strictSame(filtersOf(search), { model: 'a/b' })
})

t.test('a relative range ends now', async (t) => {
  t.strictSame(queryOf({ range: '1h', status: 'failed' }, now), {
    status: 'failed',
    from: '2026-11-26T11:00:00.000Z',
  })
})

t.test('a range of days includes the last one', async (t) => {
  const { from, to } = queryOf({ range: 'custom', from: '2026-11-01', to: '2026-11-01' }, now) as {
    from: string
    to: string
  }
  t.equal(Date.parse(to) - Date.parse(from), 86_400_000)
})

t.test('an order alone filters nothing', async (t) => {
  t.notOk(isFiltered({ sort: 'charge' }))
  t.ok(isFiltered({ sort: 'charge', status: 'failed' }))
})

t.test('a turn begins with a message of the user, or with results after an answer', async (t) => {
  const message = (event_type: string) => ({ event_type, created_at: '' })
  const [user, answer, tool] = ['user_message', 'assistant_message', 'tool_message'].map(message)
  if (!user || !answer || !tool) throw new Error('no messages')
  t.strictSame(
    turnsOf([user, answer, tool, tool, answer, user]).map(({ length }) => length),
    [2, 3, 1],
  )
})
