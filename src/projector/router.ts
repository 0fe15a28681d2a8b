import type { AnyProjection, EventProjection, LogProjection } from '../../projections/projection.ts'
import type { EventTable } from '../domain/aggregate.ts'
import type { Position, Seen } from '../domain/event.ts'
import { decoder } from '../event-sourcing/codec.ts'
import { type RecordedEvent, START, UnreadableEvent } from '../ports/event-store.ts'
import type { Document, Scalar } from '../ports/views.ts'
import { legibleIn, type SetAside, setAside } from './set-aside.ts'

/** Every document whose index has these values; `stored` are those of them in the store. */
type Clear = { index: string; equals: readonly Scalar[]; stored: readonly string[] }

/** What one event asks of one projection. */
export type RoutedEvent = {
  event: Seen<EventTable>
  clear: Clear | undefined
  /** The documents that it is about. */
  ids: string | readonly string[]
  /**
   * An event of its stream, at or before it, is unreadable: its documents are marked incomplete.
   */
  incomplete?: true
  /**
   * It is itself unreadable: marks its documents, and those under `stream`, and changes nothing
   * else.
   */
  marks?: { stream: Clear | undefined }
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

type Route = { cursor: number; projection: EventProjection; folds: boolean }

type Reader = {
  decode(recorded: RecordedEvent): Seen<EventTable>
  routes: Route[]
  /**
   * Of projections that have no handler for the type, and only take note of an unreadable event.
   */
  idle: Route[]
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
    const schema = known ? events[type] : undefined
    const reader: Reader = readers.get(schema) ?? { decode: decoder(events), routes: [], idle: [] }
    const { routes, idle } = reader
    const isIdle = known && !folds && !(type in clears)
    ;(isIdle ? idle : routes).push({ cursor, projection, folds })
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

/** The step of an unreadable event: marks its documents. */
const markingEvent = (projection: EventProjection, recorded: RecordedEvent): RoutedEvent => {
  const { event, ids, stream } = legibleIn(projection, recorded)
  const marks = { stream: stream && { ...stream, stored: [] } }
  return { event, clear: undefined, ids, incomplete: true, marks }
}

/** Undefined: none of the events goes into a document. */
const grouped = (
  { id: idOf, events: table }: LogProjection<Document>['stored'],
  events: readonly RecordedEvent[],
  aside: SetAside,
): RoutedBatch | undefined => {
  const decode = table && decoder(table)
  const groups = new Map<string, RecordedEvent[]>()
  let failed: Position = START
  // The events of one append follow each other, and mostly go into the same document.
  let last: string | undefined
  let group: RecordedEvent[] | undefined
  for (const recorded of events) {
    const id = idOf(recorded)
    if (id === undefined) continue
    if (groups.size === 0) failed = recorded.position
    let event = recorded
    try {
      if (table && Object.hasOwn(table, recorded.type)) event = decode?.(recorded) ?? recorded
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) return { steps: [], error, failed }
      aside.add(error)
      continue
    }
    if (id !== last || !group) {
      last = id
      group = groups.get(id) ?? []
      groups.set(id, group)
    }
    group.push(event)
  }
  return groups.size > 0 ? { steps: [], groups, failed } : undefined
}

/**
 * Routes batches to projections. The route of a category and type is worked out once; an event in a
 * category that none reads is not parsed. An unreadable event is set aside: it marks documents, and
 * the projections go on. An event that a projection does not know or cannot place ends its steps
 * alone.
 */
export const batchRouter = (
  projections: readonly AnyProjection[],
  aside: SetAside = setAside(),
) => {
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
    const matches = readersOf(projections, category, type)
    types.set(type, matches)
    return matches
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
        aside,
      )
    const fail = (n: number, error: unknown, { position }: RecordedEvent) => {
      const { steps = [] } = routedBatches[n] ?? {}
      routedBatches[n] = { steps, error, failed: position }
    }

    const mark = ({ routes, idle }: Reader, recorded: RecordedEvent, why: UnreadableEvent) => {
      aside.add(why)
      for (const list of [routes, idle])
        for (const { cursor: n, projection } of list)
          if (takes(n, recorded.position)) add(n, markingEvent(projection, recorded))
    }

    const follow = (reader: Reader, recorded: RecordedEvent) => {
      let event: Seen<EventTable> | undefined
      for (const { cursor: n, projection, folds } of reader.routes) {
        if (!takes(n, recorded.position)) continue
        try {
          event ??= reader.decode(recorded)
          const step = routedEvent(projection, event, folds)
          if (!step) continue
          if (aside.isIncomplete(recorded) && projection.pace !== 'later') step.incomplete = true
          add(n, step)
        } catch (error) {
          if (error instanceof UnreadableEvent) return mark(reader, recorded, error)
          fail(n, error, recorded)
        }
      }
      if (event || !reader.idle.some(({ cursor }) => takes(cursor, recorded.position))) return
      try {
        reader.decode(recorded)
      } catch (error) {
        if (error instanceof UnreadableEvent) mark(reader, recorded, error)
        else
          for (const { cursor } of reader.idle)
            if (takes(cursor, recorded.position)) fail(cursor, error, recorded)
      }
    }

    for (const recorded of batch) for (const reader of readers(recorded)) follow(reader, recorded)
    return routedBatches
  }
}
