import { z } from 'zod'
import { ownerOf, position, timeOf } from '../src/domain/event.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import type { DocumentChange } from '../src/ports/views.ts'
import { count, text } from './fields.ts'
import type { LogProjection, StoredFold } from './projection.ts'

/** How many events of an organization one document stands for. */
export const stretchLength = 256

/**
 * Where a stretch of an organization's history is in the log. Its last stretch, which is not full,
 * has the organization's id for its own; full ones are written once.
 */
const eventIndexView = z.object({
  organization_id: text,
  /** Events of the organization before this stretch: a multiple of `stretchLength`. */
  events_before: count,
  /** The position of the first event, which orders stretches. */
  first: position,
  /** The position of each event, in order. */
  positions: z.array(position),
  /** Milliseconds since 1970: no event of the stretch is from before. */
  since: count,
  /** No event of the stretch, nor any before it, is from after. */
  until: count,
})
export type EventIndexView = z.infer<typeof eventIndexView>

export const stretchId = (organizationId: string, eventsBefore: number): string =>
  `${organizationId}/${eventsBefore / stretchLength}`

const newStretch = (event: RecordedEvent, eventsBefore: number, until = 0): EventIndexView => {
  const { position } = event
  // An event without a readable time gets the time of the event before it.
  const at = timeOf(event) ?? until
  return {
    organization_id: ownerOf(event),
    events_before: eventsBefore,
    first: position,
    positions: [position],
    since: at,
    until: Math.max(until, at),
  }
}

const stored: StoredFold<EventIndexView> = {
  id: ownerOf,

  fold(view, events, id) {
    const others: DocumentChange[] = []
    let open = view
    let positions = [...(view?.positions ?? [])]
    for (const event of events) {
      if (open && positions.length < stretchLength) {
        positions.push(event.position)
        const { since, until } = open
        const at = timeOf(event) ?? until
        if (at < since || at > until)
          open = { ...open, since: Math.min(since, at), until: Math.max(until, at) }
        continue
      }
      const before = open ? open.events_before + stretchLength : 0
      if (open)
        others.push({ id: stretchId(id, open.events_before), document: { ...open, positions } })
      open = newStretch(event, before, open?.until)
      positions = [event.position]
    }
    if (!open) throw new TypeError('a fold without events')
    return { view: { ...open, positions }, others }
  },
}

/** The organization's event index: where in the log its events are. */
export const eventIndex: LogProjection<EventIndexView> = {
  name: 'event_index',
  pace: 'later',
  schema: eventIndexView,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'first' } },
  stored,
}
