import type { RecordedEvent } from '../src/ports/event-store.ts'

/** A field of an event's data as it is stored, of whatever type the event is. */
export const fieldOf = ({ data }: RecordedEvent, name: string): unknown =>
  typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined
