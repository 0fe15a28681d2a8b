import t from 'tap'
import type { Position } from '../../src/domain/event.ts'
import { START } from '../../src/ports/event-store.ts'
import { batchRouter, type Cursor } from '../../src/projector/router.ts'
import { projecting } from '../support/given.ts'
import { at } from '../support/positions.ts'
import { recorded } from '../support/recorded.ts'
import { boxes, tallies, things, toys } from '../support/toys.ts'

const opened = (owner = 'ann') => ({ type: 'BoxOpened', data: { owner } }) as const
const put = (thing: string, weight = 1) => ({ type: 'ThingPut', data: { thing, weight } }) as const
const left = (owner: string) => ({ type: 'OwnerLeft', data: { owner } }) as const
const burnt = { type: 'BoxBurnt', data: {} } as const
const b1 = 'box-org-1_b-1'
const b2 = 'box-org-1_b-2'

t.test('documents are created, changed and removed', async (t) => {
  const seen = projecting(t, boxes, b1)
  seen(opened(), put('cup', 2), put('hat', 3)).shows({ owner: 'ann', weight: 5, steps: 3 })
  seen(put('cup')).showsNothing()
  seen(opened(), burnt).showsNothing()
  seen(opened('ann'), burnt, opened('bob')).shows({ owner: 'bob', steps: 1 })
})

t.test('an event may be about several documents, or none', async (t) => {
  const seen = projecting(t, tallies, b1)(opened('ann'), put('cup'))
  seen.shows({ events: 1, last: 0 }, 'ann')
  seen.shows({ events: 2, last: 1 }, 'all')
  projecting(t, things, b1)(burnt).showsNothing()
})

t.test('a clear removes what is there at that moment, and nothing later', async (t) => {
  const seen = projecting(t, boxes, b1)
  seen(opened('ann'), put('cup'), left('ann')).showsNothing()
  seen(opened('bob'), left('ann')).shows({ owner: 'bob' })
  seen(opened('ann'), left('ann'), opened('ann')).shows({ owner: 'ann', steps: 1 })
  seen(opened('ann'), { ...opened('ann'), stream: b2 }, left('ann')).showsNothing()
})

t.test('a clear goes by the values of that moment', async (t) => {
  const seen = projecting(t, things, b1)
  seen(put('cup'), { ...put('cup'), stream: b2 }, burnt).shows({ place: { box: 'b-2' }, put: 2 })
  seen(put('cup'), { ...put('cup'), stream: b2 }, { ...burnt, stream: b2 }).showsNothing()
})

t.test('an event concerns only those who read it', async (t) => {
  const cursors = toys.map((projection): Cursor => ({ projection, position: START }))
  const batch = recorded([
    { stream: 'jar-org-1_j-1', type: 'BoxOpened', data: 'not for us' },
    { stream: b1, type: 'BoxPainted', data: { colour: 'red' } },
    { stream: b1, ...opened() },
    { stream: b1, ...put('cup') },
  ])
  const steps = (ahead: Position) =>
    batchRouter(toys)(
      batch,
      cursors.map((cursor, n) => (n === 0 ? { ...cursor, position: ahead } : cursor)),
    ).map((routed) => routed?.steps.map(({ event }) => event.position))
  t.strictSame(steps(START), [[2, 3], [3], [2, 3]])
  t.strictSame(steps(at(2)), [[3], [3], [2, 3]], 'and only beyond where they are')
})

t.test(
  'an event of an unknown type ends the steps of those who read it, an unreadable one no steps',
  async (t) => {
    const narrow = { ...things, name: 'narrow', events: { ThingPut: things.events.ThingPut } }
    const projections = [boxes, narrow]
    const cursors = projections.map((projection): Cursor => ({ projection, position: START }))
    const batch = recorded([
      { stream: b1, ...opened() },
      { stream: b1, ...put('cup') },
      { stream: b1, type: 'ThingPut', data: { thing: 7 } },
      { stream: b1, ...put('hat') },
    ])
    const [all, some] = batchRouter(projections)(batch, cursors)
    t.equal(all?.error, undefined)
    t.strictSame(
      all?.steps.map(({ incomplete, marks }) => [incomplete, marks !== undefined]),
      [
        [undefined, false],
        [undefined, false],
        [true, true],
        [true, false],
      ],
    )
    t.equal(some?.steps.length, 0)
    t.match(some?.error, { name: 'UnknownEvent' })
  },
)
