import { z } from 'zod'
import { type AnyProjection, idIn, projection } from '../../projections/projection.ts'

/** Toy read models over toy streams, for what runs projections: boxes that hold things. */
export const boxEvents = {
  BoxOpened: z.object({ owner: z.string() }),
  ThingPut: z.object({ thing: z.string(), weight: z.number() }),
  ThingTaken: z.object({ thing: z.string() }),
  OwnerLeft: z.object({ owner: z.string() }),
  BoxBurnt: z.object({}),
  BoxPainted: z.object({ colour: z.string() }),
}

const box = z.object({ id: z.string(), owner: z.string(), weight: z.number(), steps: z.int() })

/** A document for each box; an owner who leaves takes all boxes along. */
export const boxes = projection<z.infer<typeof box>, typeof boxEvents>()({
  name: 'boxes',
  schema: box,
  indexes: { of_owner: { equals: ['owner'] } },
  categories: ['box'],
  events: boxEvents,
  id: ({ stream }) => idIn(stream),
  creates: { BoxOpened: ({ data }, id) => ({ id, owner: data.owner, weight: 0, steps: 1 }) },
  changes: {
    ThingPut: (box, { data }) => ({
      ...box,
      weight: box.weight + data.weight,
      steps: box.steps + 1,
    }),
  },
  removes: ['BoxBurnt'],
  clears: { OwnerLeft: ({ data }) => ({ index: 'of_owner', equals: [data.owner] }) },
  ignores: { ThingTaken: true, BoxPainted: true },
})

const thing = z.object({ thing: z.string(), place: z.object({ box: z.string() }), put: z.int() })

/** A document for each thing, in the box it was put into last. */
export const things = projection<z.infer<typeof thing>, typeof boxEvents>()({
  name: 'things',
  schema: thing,
  indexes: { in_box: { equals: ['place.box'], orderBy: 'thing' } },
  categories: ['box'],
  events: boxEvents,
  id: ({ data }) => ('thing' in data ? data.thing : []),
  creates: {
    ThingPut: ({ stream }, thing) => ({ thing, place: { box: idIn(stream) }, put: 1 }),
  },
  changes: {
    ThingPut: (view, { stream }) => ({
      ...view,
      place: { box: idIn(stream) },
      put: view.put + 1,
    }),
  },
  removes: ['ThingTaken'],
  clears: { BoxBurnt: ({ stream }) => ({ index: 'in_box', equals: [idIn(stream)] }) },
  ignores: { BoxOpened: true, OwnerLeft: true, BoxPainted: true },
})

const count = z.object({ events: z.int(), last: z.int() })

/** Two documents an event is about at once: the owner's tally and everybody's. */
export const tallies = projection<z.infer<typeof count>, typeof boxEvents>()({
  name: 'tallies',
  schema: count,
  indexes: {},
  categories: ['box'],
  events: boxEvents,
  id: ({ data }) => ('owner' in data ? [data.owner, 'all'] : 'all'),
  creates: {
    BoxOpened: ({ position }) => ({ events: 1, last: position }),
    ThingPut: ({ position }) => ({ events: 1, last: position }),
  },
  changes: {
    BoxOpened: ({ events }, { position }) => ({ events: events + 1, last: position }),
    ThingPut: ({ events }, { position }) => ({ events: events + 1, last: position }),
    OwnerLeft: ({ events }, { position }) => ({ events: events + 1, last: position }),
  },
  ignores: { ThingTaken: true, BoxBurnt: true, BoxPainted: true },
})

export const toys: readonly AnyProjection[] = [boxes, things, tallies]
