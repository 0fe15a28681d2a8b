import t from 'tap'
import { agents } from '../../projections/agents.ts'
import { getChanges } from '../../queries/get-changes.ts'
import { getState } from '../../queries/get-state.ts'
import type { Position } from '../../src/domain/event.ts'
import type { Document } from '../../src/ports/views.ts'
import { at } from '../support/positions.ts'
import { turnsOf } from '../support/turns-of.ts'

const organizationId = 'o-1'

/** A document of every two, so many, as it is at a position; the ids are in no order. */
const stateAt = (count: number) => async (_: string, __: unknown, position: Position) => {
  const documents = new Map<string, Document>()
  for (let n = 0; n < count; n++) {
    const changes = n % 1_000 === 0
    const id = `a-${String((n * 7_919) % count).padStart(6, '0')}`
    documents.set(id, { organization_id: organizationId, name: changes ? `${position}` : 'same' })
    documents.set(`other-${n}`, { organization_id: 'o-2', name: `${position}` })
  }
  return { documents, position: at(Math.min(position, 2)) }
}

const uses = (count: number) => ({
  stateAt: stateAt(count),
  findPosition: async () => at(2),
  head: async () => at(2),
  open: async () => undefined,
})

t.test('however many documents there are, a few are compared in a turn of the loop', async (t) => {
  const count = 20_000
  const changes = getChanges(uses(count))
  const query = { organizationId, view: agents.name, from: { position: at(1) }, to: {}, limit: 15 }
  const ids = Array.from({ length: 20 }, (_, n) => (n * 1_000 * 7_919) % count)
    .sort((a, b) => a - b)
    .map((n) => `a-${String(n).padStart(6, '0')}`)
  const turns = await turnsOf(async () => {
    const first = await changes(query)
    t.match(first, { from: 1, to: 2, total: 20, next_after: ids[14] })
    t.strictSame(
      first.changes.map(({ id }) => id),
      ids.slice(0, 15),
    )
    const rest = await changes({ ...query, after: ids[14] })
    t.match(rest, { total: 20, next_after: null })
    t.strictSame(
      rest.changes.map(({ id }) => id),
      ids.slice(15),
    )
    t.strictSame((await changes({ ...query, after: 'z' })).changes, [])
  })
  t.ok(turns > (3 * count) / 1_000, `${turns} turns`)
})

t.test('a range that ends before it begins is refused, also without events in it', async (t) => {
  const query = { organizationId, view: agents.name, limit: 1 }
  const changes = getChanges(uses(1))
  const times = [Date.parse('2021-01-01'), Date.parse('2020-01-01')]
  for (const [from, to] of [
    [{ position: at(9) }, { position: at(8) }],
    [{ time: times[0] }, { time: times[1] }],
    [{}, { position: at(1) }],
  ] as const)
    await t.rejects(changes({ ...query, from, to }), { code: 'invalid_query' })
  for (const [from, to] of [
    [{ position: at(9) }, { position: at(9) }],
    [{ position: at(9) }, {}],
    [{ position: at(0) }, { time: times[0] }],
  ] as const)
    t.match(await changes({ ...query, from, to }), { to: 2 })
})

t.test('and a few are listed and sorted in a turn', async (t) => {
  const count = 20_000
  const state = getState(uses(count))
  const turns = await turnsOf(async () => {
    const { total, page } = await state(organizationId, agents.name, { position: at(1) })
    t.equal(total, count)
    const { documents, next_after } = await page('a-000001', 3)
    t.strictSame(
      documents.map(({ id }) => id),
      ['a-000002', 'a-000003', 'a-000004'],
    )
    t.equal(next_after, 'a-000004')
  })
  t.ok(turns > count / 1_000, `${turns} turns`)
})
