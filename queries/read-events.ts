import { type EventIndexView, stretchId, stretchLength } from '../projections/event-index.ts'
import type { Position } from '../src/domain/event.ts'
import {
  type EventStore,
  type RecordedEvent,
  START,
  StoreUnavailable,
} from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'
import type { ReadHistory } from './read-history.ts'

type Uses = {
  eventsAt: EventStore['at']
  eventIndex: View<EventIndexView>
  readHistory: ReadHistory
}

/**
 * An organization's events from one index to before another (counted from 0 in its history), in
 * batches. Those that are not indexed yet are searched for in the log.
 * @throws StoreUnavailable when the log shows fewer
 */
export const readEvents = ({ eventsAt, eventIndex, readHistory }: Uses) => {
  /** Stretches before the open one are full, and stored before it was. */
  const fullStretch = async (organizationId: string, eventsBefore: number) => {
    const id = stretchId(organizationId, eventsBefore)
    const stretch = await eventIndex.get(id)
    if (!stretch) throw new Error(`no stretch is stored under ${id}`)
    return stretch
  }

  async function* positions(
    organizationId: string,
    open: EventIndexView,
    { from, to }: { from: number; to: number },
  ): AsyncGenerator<readonly Position[]> {
    for (let next = from; next < to; ) {
      const before = next - (next % stretchLength)
      const stretch =
        before === open.events_before ? open : await fullStretch(organizationId, before)
      yield stretch.positions.slice(next - before, to - before)
      next = before + stretchLength
    }
  }

  return async function* (
    organizationId: string,
    from: number,
    to: number,
  ): AsyncGenerator<readonly RecordedEvent[]> {
    const open = await eventIndex.get(organizationId)
    let next = open ? open.events_before + open.positions.length : 0
    if (open) yield* eventsAt(positions(organizationId, open, { from, to: Math.min(to, next) }))
    if (next >= to) return
    const after = open?.positions.at(-1) ?? START
    for await (const { events } of readHistory({ organizationId, after })) {
      const slice = events.slice(Math.max(0, from - next), to - next)
      if (slice.length > 0) yield slice
      next += events.length
      if (next >= to) return
    }
    throw new StoreUnavailable(`of ${to} events of ${organizationId} the log shows ${next}`)
  }
}
export type ReadEvents = ReturnType<typeof readEvents>
