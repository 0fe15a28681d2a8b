import type { EventStore } from '../../src/ports/event-store.ts'

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const one of Object.values(value)) freeze(one)
}

/** A store of events that fail whoever changes them after they were decided: they are handed on as they are. */
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
