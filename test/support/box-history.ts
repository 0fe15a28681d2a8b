import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { EventStore } from '../../src/ports/event-store.ts'
import { metadata } from './recorded.ts'

/** An event of the toy streams; `stream` is the box's id, also for events of other categories. */
export type BoxEvent = { stream: string; type: string; data: object }

export const put = (stream: string, thing: string): BoxEvent => ({
  stream,
  type: 'ThingPut',
  data: { thing, weight: 1 },
})

const stream = fc.constantFrom('b-1', 'b-2', 'b-3')
const owner = fc.constantFrom('ann', 'bob')
const thing = fc.constantFrom('cup', 'hat', 'key', 'pen')

const event = (type: string, data: fc.Arbitrary<object>) =>
  fc.record({ stream, type: fc.constant(type), data })

/** What may happen to a few boxes, things and owners, with many encounters. */
export const boxHistory: fc.Arbitrary<BoxEvent[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: event('BoxOpened', fc.record({ owner })) },
    { weight: 6, arbitrary: event('ThingPut', fc.record({ thing, weight: fc.nat(9) })) },
    { weight: 2, arbitrary: event('ThingTaken', fc.record({ thing })) },
    { weight: 1, arbitrary: event('OwnerLeft', fc.record({ owner })) },
    { weight: 1, arbitrary: event('BoxBurnt', fc.constant({})) },
    { weight: 1, arbitrary: event('BoxPainted', fc.constant({ colour: 'red' })) },
  ),
  { minLength: 1, maxLength: 60 },
)

/** Appends events, one after the other. */
export const say = async (store: EventStore, events: readonly BoxEvent[]): Promise<void> => {
  for (const { stream, type, data } of events)
    await store.append(`box-org-1_${stream}`, 'any', [{ id: randomUUID(), type, data, metadata }])
}
