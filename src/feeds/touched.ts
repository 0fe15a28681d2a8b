import type { EventProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { decoder, readableOr } from '../event-sourcing/codec.ts'
import type { EventStore, RecordedEvent } from '../ports/event-store.ts'
import { legibleIn } from '../projector/set-aside.ts'

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
  /** An unreadable event marks documents, also where the read model has no handler for its type. */
  const look = (recorded: RecordedEvent): { ids: readonly string[]; ofStream: boolean } =>
    readableOr(
      () => {
        const event = decode(recorded)
        return { ids: folds(event) ? [projection.id(event)].flat() : [], ofStream: false }
      },
      () => {
        const { ids, stream } = legibleIn(projection, recorded)
        return { ids, ofStream: stream !== undefined }
      },
    )

  return async (batch: readonly RecordedEvent[]): Promise<Map<string, Position>> => {
    const ids = new Map<string, Position>()
    const touch = (some: readonly string[], position: Position) => {
      for (const id of some) {
        ids.delete(id)
        ids.set(id, position)
      }
    }
    for (const event of batch) {
      if (!isRead(event)) continue
      const own = look(event)
      if (event.type in clears || own.ofStream)
        for await (const before of read(event.stream))
          for (const earlier of before)
            if (earlier.position < event.position) touch(look(earlier).ids, event.position)
      touch(own.ids, event.position)
    }
    return ids
  }
}
