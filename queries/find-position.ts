import type { EventIndexView } from '../projections/event-index.ts'
import { type Position, timeOf } from '../src/domain/event.ts'
import { type EventStore, type RecordedEvent, START } from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'
import type { ReadHistory } from './read-history.ts'

/** How many stretches are looked up at once. */
const page = 16

type Uses = {
  readHistory: ReadHistory
  eventsAt: EventStore['at']
  eventIndex: View<EventIndexView>
  /** Up to where the event index is folded. */
  indexed(): Position
  /** Resolves once nothing can be appended with this time any more. */
  timePassed(time: number): Promise<void>
}

const isLater =
  (time: number) =>
  (event: RecordedEvent): boolean =>
    (timeOf(event) ?? time) > time

/**
 * The position of an organization's last event before the first that is later than a time
 * (milliseconds since 1970); else START. What is appended after that one changes nothing, whatever
 * its time.
 */
export const findPosition = (uses: Uses) => {
  const { readHistory, eventsAt, eventIndex, indexed, timePassed } = uses

  /** The organization's stretches, the latest first. */
  async function* stretches(organizationId: string) {
    const query = { index: 'by_organization', equals: [organizationId], descending: true }
    for (let items: EventIndexView[] | undefined; items?.length !== 0; ) {
      const last = items?.at(-1)
      const rest = last ? { below: last.first } : {}
      ;({ items } = await eventIndex.find({ ...query, ...rest, limit: page }))
      yield* items
    }
  }

  return async (organizationId: string, time: number): Promise<Position> => {
    await timePassed(time)
    const reach = indexed()
    const later = isLater(time)
    let last: Position = START
    /** The earliest stretch by whose end there was a later event. */
    let boundary: EventIndexView | undefined
    for await (const stretch of stretches(organizationId)) {
      if (stretch.first > reach) continue
      if (stretch.until <= time) {
        last = stretch.positions.findLast((position) => position <= reach) ?? stretch.first
        break
      }
      boundary = stretch
    }

    /** Whether a later event is among these; takes note of the last one before it. */
    const reachesEnd = (events: readonly RecordedEvent[]): boolean => {
      const first = events.findIndex(later)
      const before = first < 0 ? events : events.slice(0, first)
      last = before.at(-1)?.position ?? last
      return first >= 0
    }

    async function* known(stretch: EventIndexView) {
      yield stretch.positions.filter((position) => position <= reach)
    }
    if (boundary)
      for await (const events of eventsAt(known(boundary))) if (reachesEnd(events)) return last
    for await (const { events } of readHistory({ organizationId, after: reach }))
      if (reachesEnd(events)) return last
    return last
  }
}
export type FindPosition = ReturnType<typeof findPosition>
