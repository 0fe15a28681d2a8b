import type { EventStore } from '../../src/ports/event-store.ts'

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const property of Object.values(value)) freeze(property)
}

/** A store whose events are deeply frozen: changing one after its decision throws. */
export const frozen = (store: EventStore): EventStore => ({
  ...store,
  append(stream, expected, events) {
    for (const { data, metadata } of events) {
      freeze(data)
      freeze(metadata)
    }
    return store.append(stream, expected, events)
  },
})
