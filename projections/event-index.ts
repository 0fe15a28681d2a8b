import { z } from 'zod'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import { count, text } from './fields.ts'
import type { LogProjection } from './projection.ts'

/** How many positions a document stands for, and a part of it. */
export const stretchSize = 16_384
export const partSize = 64

const minute = 60_000

/**
 * Where in the log an organization's events are, by stretches of positions: its history is read
 * without reading those of others. Parts and minutes are coarse, so that few events change a document.
 */
const eventIndexView = z.object({
  organization_id: text,
  /** Positions from `stretch * stretchSize` on. */
  stretch: count,
  /** Which parts of the stretch hold events of the organization, counted from its beginning. */
  parts: z.array(count),
  /** Milliseconds since 1970, whole minutes: no event of the stretch is from before or after. */
  since: count,
  until: count,
})
export type EventIndexView = z.infer<typeof eventIndexView>

const stretchOf = ({ position }: RecordedEvent) => Math.floor(position / stretchSize)

const begun = (event: RecordedEvent): EventIndexView => ({
  organization_id: event.metadata.organization_id,
  stretch: stretchOf(event),
  parts: [],
  since: Number.POSITIVE_INFINITY,
  until: 0,
})

const continued = (view: EventIndexView, { position, metadata }: RecordedEvent): EventIndexView => {
  const at = Date.parse(metadata.at)
  const part = Math.floor((position % stretchSize) / partSize)
  const known = view.parts.at(-1) === part
  if (known && at >= view.since && at <= view.until) return view
  return {
    ...view,
    parts: known ? view.parts : [...view.parts, part],
    since: Math.min(view.since, Math.floor(at / minute) * minute),
    until: Math.max(view.until, Math.ceil(at / minute) * minute),
  }
}

/** An organization's event index; its documents are stored as `histories`. */
export const eventIndex: LogProjection<EventIndexView> = {
  name: 'histories',
  schema: eventIndexView,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'stretch' } },
  stored: {
    id: (event) => `${event.metadata.organization_id}/${stretchOf(event)}`,
    fold(view, events) {
      const [first] = events
      const before = view ?? (first && begun(first))
      if (!before) throw new TypeError('a fold without events')
      return { view: events.reduce(continued, before), others: [] }
    },
  },
}
