import type { EventProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { decoder } from '../event-sourcing/codec.ts'
import type { EventStore, RecordedEvent } from '../ports/event-store.ts'

/**
 * The documents of a read model that some events may have changed, each with the position of its
 * last change, in that order. Documents that an event clears are found by the earlier events of its
 * stream: the documents are gone, but those events still name them.
 */
export const touched = (projection: EventProjection, read: EventStore['read']) => {
  const { categories, events, creates, changes, removes = [], clears = {} } = projection
  const decode = decoder(events)
  const isRead = ({ stream }: RecordedEvent) =>
    categories.includes(stream.slice(0, stream.indexOf('-')))
  const folds = ({ type }: RecordedEvent) =>
    type in creates || type in changes || removes.includes(type)
  const idsOf = (event: RecordedEvent): readonly string[] =>
    folds(event) ? [projection.id(decode(event))].flat() : []

  return async (batch: readonly RecordedEvent[]): Promise<Map<string, Position>> => {
    const ids = new Map<string, Position>()
    const touch = (id: string, position: Position) => {
      ids.delete(id)
      ids.set(id, position)
    }
    for (const event of batch) {
      if (!isRead(event)) continue
      if (event.type in clears)
        for await (const before of read(event.stream))
          for (const one of before)
            if (one.position < event.position)
              for (const id of idsOf(one)) touch(id, event.position)
      for (const id of idsOf(event)) touch(id, event.position)
    }
    return ids
  }
}
