import t from 'tap'
import { validate, version } from 'uuid'
import { newId } from '../../src/support/ids.ts'

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
