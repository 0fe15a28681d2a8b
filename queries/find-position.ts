import type { EventIndexView } from '../projections/event-index.ts'
import type { Position } from '../src/domain/event.ts'
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
}

const lastOf = (events: readonly RecordedEvent[], time: number): Position | undefined =>
  events.findLast(({ metadata }) => Date.parse(metadata.at) <= time)?.position

/** The position of an organization's last event up to a time (milliseconds since 1970); else START. */
export const findPosition = ({ readHistory, eventsAt, eventIndex, indexed }: Uses) => {
  const lastAfter = async (organizationId: string, time: number, after: Position) => {
    let last: Position | undefined
    for await (const { events } of readHistory({ organizationId, after }))
      last = lastOf(events, time) ?? last
    return last
  }

  const lastAt = async (positions: readonly Position[], time: number) => {
    let last: Position | undefined
    const all = (async function* () {
      yield positions
    })()
    for await (const events of eventsAt(all)) last = lastOf(events, time) ?? last
    return last
  }

  /** The organization's stretches that may hold it, the latest first. */
  async function* stretches(organizationId: string, time: number) {
    const query = { index: 'by_organization', equals: [organizationId], descending: true }
    for (let items: EventIndexView[] | undefined; items?.length !== 0; ) {
      const last = items?.at(-1)
      const rest = last ? { below: last.first } : {}
      ;({ items } = await eventIndex.find({ ...query, ...rest, limit: page }))
      yield* items.filter(({ since }) => since <= time)
    }
  }

  return async (organizationId: string, time: number): Promise<Position> => {
    const reach = indexed()
    const recent = await lastAfter(organizationId, time, reach)
    if (recent !== undefined) return recent
    for await (const { positions } of stretches(organizationId, time)) {
      const known = positions.filter((position) => position <= reach)
      const found = await lastAt(known, time)
      if (found !== undefined) return found
    }
    return START
  }
}
export type FindPosition = ReturnType<typeof findPosition>
