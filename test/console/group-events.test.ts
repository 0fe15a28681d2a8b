import t from 'tap'
import {
  filtersOf,
  fromLocal,
  isFiltered,
  toLocal,
} from '../../console/src/screens/history/filters.ts'
import { groupEvents, runOf } from '../../console/src/screens/history/group-events.ts'

const event = (position: number, requestId?: string, actor?: object) => ({
  position,
  id: `e-${position}`,
  stream: 's',
  revision: position,
  type: 'Happened',
  data: {},
  metadata: { at: '2026-03-01T10:00:00.000Z', request_id: requestId, actor },
})

t.test('groups the events of a request that follow each other', async (t) => {
  const groups = groupEvents([
    event(1, 'a', { key_id: 'k', user_id: 'u' }),
    event(2, 'a'),
    event(3),
    event(4, 'b', { key_id: 'k', user_id: null }),
    event(5, 'a'),
  ])
  t.strictSame(
    groups.map(({ requestId, actor, events }) => [requestId, actor, events.length]),
    [
      ['a', 'u', 2],
      [null, null, 1],
      ['b', 'k', 1],
      ['a', null, 1],
    ],
  )
  t.strictSame(new Set(groups.map(({ id }) => id)).size, 4)
})

t.test('groups events whose metadata cannot be read', async (t) => {
  const groups = groupEvents([{ ...event(1), metadata: null }])
  t.match(groups, [{ requestId: null, actor: null, at: null }])
})

t.test('finds the run of an event in its data', async (t) => {
  t.equal(runOf({ data: { runId: 'r-1' } }), 'r-1')
  for (const data of [null, 'r-1', {}, { runId: 1 }]) t.equal(runOf({ data }), null)
})

t.test('has only filters that are set and valid', async (t) => {
  t.strictSame(filtersOf({ type: 'RunStarted' }), { type: 'RunStarted' })
  t.notOk(isFiltered(filtersOf({ type: '', from: 'yesterday' })))
  t.ok(isFiltered({ model: 'offline/extractive' }))
})

t.test('keeps a time that a field for date and time shows', async (t) => {
  const time = '2026-03-01T10:05:09.000Z'
  t.equal(fromLocal(toLocal(time)), time)
  t.equal(toLocal(undefined), '')
  t.equal(toLocal('17'.repeat(20)), '')
  t.equal(fromLocal(''), undefined)
  t.equal(fromLocal('yesterday'), undefined)
})
