import type { EventTable } from '../src/domain/aggregate.ts'
import { eventsByCategory } from '../src/domain/categories.ts'
import type { Projection, Seen } from './projection.ts'

/** How many positions a document stands for, and a part of it. */
export const stretchSize = 16_384
export const partSize = 64

const minute = 60_000

/**
 * Where in the log an organization's events are, by stretches of positions: its history is read
 * without reading anybody else's. Told by parts and minutes, so that few events change a document.
 */
export type HistoryView = {
  organization_id: string
  /** Positions from `stretch * stretchSize` on. */
  stretch: number
  /** Which parts of the stretch hold events of the organization, counted from its beginning. */
  parts: readonly number[]
  /** Milliseconds since 1970, whole minutes: no event of the stretch is from before or after. */
  since: number
  until: number
}

type Event = Seen<EventTable>

const events: EventTable = Object.fromEntries(
  Object.values<EventTable>(eventsByCategory).flatMap((table) => Object.entries(table)),
)

const partOf = ({ position }: Event) => Math.floor((position % stretchSize) / partSize)

const begun = (event: Event): HistoryView => {
  const at = Date.parse(event.metadata.at)
  return {
    organization_id: event.metadata.organization_id,
    stretch: Math.floor(event.position / stretchSize),
    parts: [partOf(event)],
    since: Math.floor(at / minute) * minute,
    until: Math.ceil(at / minute) * minute,
  }
}

const continued = (view: HistoryView, event: Event): HistoryView => {
  const at = Date.parse(event.metadata.at)
  const part = partOf(event)
  const known = view.parts.at(-1) === part
  if (known && at >= view.since && at <= view.until) return view
  const { since, until } = begun(event)
  return {
    ...view,
    parts: known ? view.parts : [...view.parts, part],
    since: Math.min(view.since, since),
    until: Math.max(view.until, until),
  }
}

const ofEvery = <Handler>(handler: Handler): Record<string, Handler> =>
  Object.fromEntries(Object.keys(events).map((type) => [type, handler]))

export const histories: Projection<HistoryView, EventTable> = {
  name: 'histories',
  categories: Object.keys(eventsByCategory),
  events,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'stretch' } },
  id: ({ metadata, position }) =>
    `${metadata.organization_id}/${Math.floor(position / stretchSize)}`,
  creates: ofEvery(begun),
  changes: ofEvery(continued),
}
