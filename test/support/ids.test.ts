import t from 'tap'
import { validate, version } from 'uuid'
import { newId, timeOfId, timeOrderedIds } from '../../src/support/ids.ts'

t.test('a new id is a UUIDv7 of its moment, like no other', async (t) => {
  const before = Date.now()
  const ids = Array.from({ length: 10_000 }, newId)
  const after = Date.now()
  for (const id of ids) {
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    if (!validate(id) || version(id) !== 7 || time < before || time > after) t.fail(id)
  }
  t.equal(new Set(ids).size, ids.length)
})

t.test('the time of an id is that in which it was made', async (t) => {
  const id = timeOrderedIds(() => 1_795_659_153_007)()
  t.equal(timeOfId(id), 1_795_659_153_007)
  for (const other of ['', 'run-1', '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'])
    t.equal(timeOfId(other), undefined, other)
})

t.test('ids made one after another are in order', async (t) => {
  const ids = Array.from({ length: 200_000 }, newId)
  t.equal(ids.filter((id, n) => n > 0 && id <= `${ids[n - 1]}`).length, 0)
})

t.test('ids stay in order when the clock stands still or is set back', async (t) => {
  const times = [5_000, 5_000, 4_000, 4_999, 5_000, 5_001, 4_000]
  const next = timeOrderedIds(() => times.shift() ?? 0)
  const ids = Array.from({ length: times.length }, next)
  t.strictSame(ids, ids.toSorted())
  t.equal(new Set(ids).size, ids.length)
})
