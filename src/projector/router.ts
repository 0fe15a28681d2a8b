import type { AnyProjection, EventProjection, LogProjection } from '../../projections/projection.ts'
import type { EventTable } from '../domain/aggregate.ts'
import type { Position, Seen } from '../domain/event.ts'
import { decoder } from '../event-sourcing/codec.ts'
import { type RecordedEvent, START } from '../ports/event-store.ts'
import type { Document, Scalar } from '../ports/views.ts'

/** Every document whose index has these values; `stored` are those of them in the store. */
type Clear = { index: string; equals: readonly Scalar[]; stored: readonly string[] }

/** What one event asks of one projection. */
export type RoutedEvent = {
  event: Seen<EventTable>
  clear: Clear | undefined
  ids: readonly string[]
}

/** A batch as one projection sees it. With an error, its steps end before the event at `failed`. */
export type RoutedBatch = { steps: RoutedEvent[]; error?: unknown; failed: number }

/** How far one projection is folded: events up to `position` are skipped. An error stops it. */
export type Cursor = { projection: AnyProjection; position: Position; error?: unknown }

type Reader = {
  decode(recorded: RecordedEvent): Seen<EventTable>
  routes: { cursor: number; projection: EventProjection; folds: boolean }[]
}

/** The readers of an event type, one for each schema, so that an event is parsed once for each. */
const readersOf = (projections: readonly AnyProjection[], category: string, type: string) => {
  const readers = new Map<unknown, Reader>()
  for (const [cursor, projection] of projections.entries()) {
    if ('stored' in projection) continue
    const { categories, events, creates, changes, removes = [], clears = {} } = projection
    if (!categories.includes(category)) continue
    const known = Object.hasOwn(events, type)
    const folds = type in creates || type in changes || removes.includes(type)
    if (known && !folds && !(type in clears)) continue
    const schema = known ? events[type] : undefined
    const reader: Reader = readers.get(schema) ?? { decode: decoder(events), routes: [] }
    reader.routes.push({ cursor, projection, folds })
    readers.set(schema, reader)
  }
  return [...readers.values()]
}

const routedEvent = (
  projection: EventProjection,
  event: Seen<EventTable>,
  folds: boolean,
): RoutedEvent => {
  const cleared = projection.clears?.[event.type]?.(event)
  if (cleared && !projection.indexes[cleared.index])
    throw new TypeError(`${projection.name} has no index ${cleared.index}`)
  const ids = folds ? projection.id(event) : []
  return {
    event,
    clear: cleared && { ...cleared, stored: [] },
    ids: typeof ids === 'string' ? [ids] : [...ids],
  }
}

/**
 * Routes batches to projections. The route of a category and type is worked out once; an event
 * without a route is not parsed. An event that a projection cannot read or place ends the steps of
 * that projection alone.
 */
export const batchRouter = (projections: readonly AnyProjection[]) => {
  const categories = new Map<string, Map<string, Reader[]>>()
  const whole: { cursor: number; stored: LogProjection<Document>['stored'] }[] = []
  for (const [cursor, projection] of projections.entries()) {
    if ('stored' in projection) {
      whole.push({ cursor, stored: projection.stored })
      continue
    }
    for (const category of projection.categories) {
      if (category.includes('-')) throw new TypeError(`no stream is of category ${category}`)
      categories.set(category, new Map())
    }
  }

  const readers = ({ stream, type }: RecordedEvent): readonly Reader[] => {
    const category = stream.slice(0, stream.indexOf('-'))
    const types = categories.get(category)
    if (!types) return []
    const found = types.get(type) ?? readersOf(projections, category, type)
    types.set(type, found)
    return found
  }

  return (batch: readonly RecordedEvent[], cursors: readonly Cursor[]): RoutedBatch[] => {
    const routedBatches: RoutedBatch[] = cursors.map(({ error }) => ({
      steps: [],
      error,
      failed: START,
    }))
    for (const recorded of batch) {
      for (const { cursor, stored } of whole) {
        const { position = Infinity } = cursors[cursor] ?? {}
        const id = recorded.position > position ? stored.id(recorded) : undefined
        if (id !== undefined)
          routedBatches[cursor]?.steps.push({ event: recorded, clear: undefined, ids: [id] })
      }
      for (const reader of readers(recorded)) {
        let event: Seen<EventTable> | undefined
        for (const { cursor: n, projection, folds } of reader.routes) {
          const routed = routedBatches[n]
          const cursor = cursors[n]
          if (!routed || !cursor || routed.error || recorded.position <= cursor.position) continue
          try {
            event ??= reader.decode(recorded)
            routed.steps.push(routedEvent(projection, event, folds))
          } catch (error) {
            Object.assign(routed, { error, failed: recorded.position })
          }
        }
      }
    }
    return routedBatches
  }
}
