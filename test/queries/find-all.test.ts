import { join } from 'node:path'
import t from 'tap'
import { findAll } from '../../queries/find-all.ts'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import type { Document, Find } from '../../src/ports/views.ts'
import { at } from '../support/positions.ts'

const place = t.testdir()
const idOf = (n: number) => `note ${String(n).padStart(5, '0')}`

t.test('every document once, also when others come while they are read', async (t) => {
  const views = embeddedViews(await openViewsEnv({ path: join(place, 'views') }))
  t.teardown(() => views.close())
  const indexes = { all: { equals: [], orderBy: 'id' } }
  const view = await views.view<Document>({ name: 'notes', indexes })
  const store = (position: number, ns: readonly number[]) => {
    const changes = ns.map((n) => ({ id: idOf(n), document: { id: idOf(n) } }))
    return views.commit([{ view: 'notes', position: at(position), changes }])
  }
  const stored = Array.from({ length: 5_000 }, (_, n) => 1_000 + n)
  await store(1, stored)
  let queries = 1
  const find = async (query: Find) => {
    const result = await view.find(query)
    await store(++queries, [1_000 - queries])
    return result
  }
  const ids = (await findAll({ find }, { index: 'all', equals: [] })).map(({ id }) => id)
  t.ok(queries > 2, 'in more than one answer')
  t.equal(new Set(ids).size, ids.length)
  t.ok(stored.every((n) => ids.includes(idOf(n))))
})
