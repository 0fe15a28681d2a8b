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
  /** The documents that it is about. */
  ids: string | readonly string[]
}

/** A batch as one projection sees it. With an error, its steps end before the event at `failed`. */
export type RoutedBatch = {
  steps: RoutedEvent[]
  /** Of a read model of the events themselves, by document; it has no steps. */
  groups?: ReadonlyMap<string, readonly RecordedEvent[]>
  error?: unknown
  /** The position of the first event, as long as there is no error. */
  failed: Position
}

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

const nothing: readonly string[] = []

/** Undefined: nothing is asked. */
const routedEvent = (
  projection: EventProjection,
  event: Seen<EventTable>,
  folds: boolean,
): RoutedEvent | undefined => {
  const cleared = projection.clears?.[event.type]?.(event)
  if (cleared && !projection.indexes[cleared.index])
    throw new TypeError(`${projection.name} has no index ${cleared.index}`)
  const ids = folds ? projection.id(event) : nothing
  if (!cleared && ids.length === 0) return undefined
  return { event, clear: cleared && { ...cleared, stored: [] }, ids }
}

/** Undefined: none of the events goes into a document. */
const grouped = (
  { id: idOf }: LogProjection<Document>['stored'],
  events: readonly RecordedEvent[],
): RoutedBatch | undefined => {
  const groups = new Map<string, RecordedEvent[]>()
  let failed: Position = START
  // The events of one append follow each other, and mostly go into the same document.
  let last: string | undefined
  let group: RecordedEvent[] | undefined
  for (const event of events) {
    const id = idOf(event)
    if (id === undefined) continue
    if (id !== last || !group) {
      last = id
      group = groups.get(id)
      if (!group) {
        if (groups.size === 0) failed = event.position
        group = []
        groups.set(id, group)
      }
    }
    group.push(event)
  }
  return groups.size > 0 ? { steps: [], groups, failed } : undefined
}

/**
 * Routes batches to projections. The route of a category and type is worked out once; an event
 * without a route is not parsed. An event that a projection cannot read or place ends the steps of
 * that projection alone.
 */
export const batchRouter = (projections: readonly AnyProjection[]) => {
  const categories = new Map<string, Map<string, Reader[]>>()
  const ofLog: { cursor: number; stored: LogProjection<Document>['stored'] }[] = []
  for (const [cursor, projection] of projections.entries()) {
    if ('stored' in projection) {
      ofLog.push({ cursor, stored: projection.stored })
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
    const known = types.get(type)
    if (known) return known
    const found = readersOf(projections, category, type)
    types.set(type, found)
    return found
  }

  /** Undefined: nothing of the batch concerns that projection. */
  return (
    batch: readonly RecordedEvent[],
    cursors: readonly Cursor[],
  ): (RoutedBatch | undefined)[] => {
    const routedBatches: (RoutedBatch | undefined)[] = cursors.map(() => undefined)
    const add = (n: number, step: RoutedEvent) => {
      const routed = routedBatches[n]
      if (routed) routed.steps.push(step)
      else routedBatches[n] = { steps: [step], failed: step.event.position }
    }
    /** Whether a projection goes on to a position. */
    const takes = (n: number, position: Position): boolean => {
      const cursor = cursors[n]
      if (!cursor || cursor.error || position <= cursor.position) return false
      return !routedBatches[n]?.error
    }
    for (const { cursor: n, stored } of ofLog)
      routedBatches[n] = grouped(
        stored,
        batch.filter(({ position }) => takes(n, position)),
      )
    for (const recorded of batch) {
      for (const reader of readers(recorded)) {
        let event: Seen<EventTable> | undefined
        for (const { cursor: n, projection, folds } of reader.routes) {
          if (!takes(n, recorded.position)) continue
          try {
            event ??= reader.decode(recorded)
            const step = routedEvent(projection, event, folds)
            if (step) add(n, step)
          } catch (error) {
            const { steps = [] } = routedBatches[n] ?? {}
            routedBatches[n] = { steps, error, failed: recorded.position }
          }
        }
      }
    }
    return routedBatches
  }
}
