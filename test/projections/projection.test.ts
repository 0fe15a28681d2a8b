import t from 'tap'
import { z } from 'zod'
import { projections } from '../../projections/all.ts'
import { projection } from '../../projections/projection.ts'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'

const schema = z.object({ open: z.boolean() })
const events = { DoorOpened: z.object({}), DoorClosed: z.object({}), DoorPainted: z.object({}) }
const doors = projection<z.infer<typeof schema>, typeof events>()
const common = {
  name: 'doors',
  schema,
  events,
  categories: ['door'],
  indexes: {},
  id: () => 'door',
}
const creates = { DoorOpened: () => ({ open: true }) }
const changes = { DoorClosed: () => ({ open: false }) }

t.test('a projection that names each event compiles', async (t) => {
  const door = doors({ ...common, creates, changes, ignores: { DoorPainted: true } })
  t.strictSame(door.ignores, { DoorPainted: true })
})

t.test('the compiler refuses a projection that forgets an event', async (t) => {
  // @ts-expect-error Property 'DoorPainted' is missing
  t.ok(doors({ ...common, creates, changes, ignores: {} }))
  // @ts-expect-error Property 'DoorClosed' is missing
  t.ok(doors({ ...common, creates, changes: {}, ignores: { DoorPainted: true } }))
})

t.test('the compiler refuses a projection that names an event twice', async (t) => {
  const ignores = { DoorPainted: true } as const
  // @ts-expect-error 'DoorClosed' is handled and ignored
  t.ok(doors({ ...common, creates, changes, ignores: { DoorPainted: true, DoorClosed: true } }))
  // @ts-expect-error 'DoorClosed' changes and removes
  t.ok(doors({ ...common, creates, changes, removes: ['DoorClosed'], ignores }))
})

t.test('the compiler refuses a projection that names an unknown event', async (t) => {
  // @ts-expect-error 'DoorLocked' does not exist
  t.ok(doors({ ...common, creates, changes, ignores: { DoorPainted: true, DoorLocked: true } }))
})

for (const projection of projections)
  if ('events' in projection)
    t.test(`${projection.name} knows every event of its categories`, async (t) => {
      const tables: Readonly<Record<string, EventTable>> = eventsByCategory
      const types = projection.categories.flatMap((category) => Object.keys(tables[category] ?? {}))
      const { creates, changes, removes = [], clears = {}, ignores } = projection
      const handled = [creates, changes, clears].flatMap((handlers) => Object.keys(handlers))
      const named = new Set([...handled, ...removes, ...Object.keys(ignores)])
      t.strictSame(Object.keys(projection.events).toSorted(), types.toSorted())
      t.strictSame([...named].toSorted(), types.toSorted())
    })
