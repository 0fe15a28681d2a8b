import { z } from 'zod'
import { eventsByCategory } from '../src/domain/categories.ts'
import { ownerOf, position } from '../src/domain/event.ts'
import { faultOf, isRepairedEvent } from '../src/event-sourcing/codec.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import { count, flag, text } from './fields.ts'
import type { LogProjection, StoredFold } from './projection.ts'

/** A stored event that violates the schema version it was stored with. */
const unreadableEventView = z.object({
  position,
  /** Whose history it is in. */
  organization_id: text,
  stream: text,
  revision: count,
  type: text,
  /** Where it violates the schema, without its data. */
  reason: text,
  /** It was set aside: this release cannot read it. */
  unreadable: flag,
  /** Its data is repaired whenever it is read. */
  repaired: flag,
})
export type UnreadableEventView = z.infer<typeof unreadableEventView>

const tables = new Map(Object.entries(eventsByCategory))

const viewOf = (event: RecordedEvent): UnreadableEventView | undefined => {
  if (event.decided) return undefined
  const { position, stream, revision, type } = event
  const place = { position, organization_id: ownerOf(event), stream, revision, type }
  const table = tables.get(stream.slice(0, stream.indexOf('-')) as never)
  if (!table) return undefined
  const reason = faultOf(table, event)
  if (reason !== undefined) return { ...place, reason, unreadable: true }
  return isRepairedEvent(event) ? { ...place, reason: 'repaired', repaired: true } : undefined
}

const stored: StoredFold<UnreadableEventView> = {
  id: (event) => (viewOf(event) ? String(event.position) : undefined),

  fold(view, events) {
    const [unreadable] = events.flatMap((event) => viewOf(event) ?? [])
    const next = unreadable ?? view
    if (!next) throw new TypeError('a fold without an unreadable event')
    return { view: next, others: [] }
  },
}

/** Unreadable and repaired events of the log, for operators. */
export const unreadableEvents: LogProjection<UnreadableEventView> = {
  name: 'unreadable_events',
  schema: unreadableEventView,
  version: 2,
  indexes: {
    by_organization: { equals: ['organization_id', 'unreadable'], orderBy: 'position' },
    unreadable: { equals: ['unreadable'], orderBy: 'position' },
    repaired: { equals: ['repaired'], orderBy: 'position' },
  },
  stored,
}
