import {
  type AnyProjection,
  type Projection,
  projected,
  type Seen,
} from '../projections/projection.ts'
import { decoder } from './codec.ts'
import type { EventTable } from './domain/aggregate.ts'
import { type RecordedEvent, START } from './ports/event-store.ts'
import type { Change, Document, Scalar } from './ports/views.ts'

/** Every document whose index has these values; `stored` are those of them in the store. */
type Clear = { index: string; equals: readonly Scalar[]; stored: readonly string[] }

/** What one event asks of one projection. */
export type Step = {
  event: Seen<EventTable>
  clear: Clear | undefined
  ids: readonly string[]
}

/** What a batch asks of one projection. An error: its steps end before the event at `failed`. */
export type Todo = { steps: Step[]; error?: unknown; failed: number }

/** `position` is where a projection stands: events at or below it are not for it. */
export type Lane = { projection: AnyProjection; position: number; error?: unknown }

type Reader = {
  decode(recorded: RecordedEvent): Seen<EventTable>
  lanes: { lane: number; folds: boolean }[]
}

/** Who reads events of a type: one reader for each schema, so that data is parsed once. */
const readersOf = (projections: readonly AnyProjection[], category: string, type: string) => {
  const readers = new Map<unknown, Reader>()
  for (const [lane, projection] of projections.entries()) {
    const { categories, events, creates, changes, removes = [], clears = {} } = projection
    if (!categories.includes(category)) continue
    const known = Object.hasOwn(events, type)
    const folds = type in creates || type in changes || removes.includes(type)
    if (known && !folds && !(type in clears)) continue
    const schema = known ? events[type] : undefined
    const reader: Reader = readers.get(schema) ?? { decode: decoder(events), lanes: [] }
    reader.lanes.push({ lane, folds })
    readers.set(schema, reader)
  }
  return [...readers.values()]
}

const stepOf = (projection: AnyProjection, event: Seen<EventTable>, folds: boolean): Step => {
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
 * Sorts batches by projection: who an event concerns is worked out once per category and type, and
 * an event that concerns nobody is not even parsed. An event that a projection cannot read, or not
 * place, ends that projection's steps and nobody else's.
 */
export const sorter = (projections: readonly AnyProjection[]) => {
  const categories = new Map<string, Map<string, Reader[]>>()
  for (const category of projections.flatMap(({ categories }) => categories)) {
    if (category.includes('-')) throw new TypeError(`no stream is of category ${category}`)
    categories.set(category, new Map())
  }

  const readers = ({ stream, type }: RecordedEvent): readonly Reader[] => {
    const category = stream.slice(0, stream.indexOf('-'))
    const types = categories.get(category)
    if (!types) return []
    const found = types.get(type) ?? readersOf(projections, category, type)
    types.set(type, found)
    return found
  }

  const whole = [...projections.entries()].flatMap(([lane, { stored }]) =>
    stored ? { lane, stored } : [],
  )

  return (batch: readonly RecordedEvent[], lanes: readonly Lane[]): Todo[] => {
    const todos: Todo[] = lanes.map(({ error }) => ({ steps: [], error, failed: START }))
    for (const recorded of batch) {
      for (const { lane, stored } of whole) {
        const { position = Infinity } = lanes[lane] ?? {}
        const id = recorded.position > position ? stored.id(recorded) : undefined
        if (id !== undefined)
          todos[lane]?.steps.push({ event: recorded, clear: undefined, ids: [id] })
      }
      for (const reader of readers(recorded)) {
        let event: Seen<EventTable> | undefined
        for (const { lane: n, folds } of reader.lanes) {
          const todo = todos[n]
          const lane = lanes[n]
          if (!todo || !lane || todo.error || recorded.position <= lane.position) continue
          try {
            event ??= reader.decode(recorded)
            todo.steps.push(stepOf(lane.projection, event, folds))
          } catch (error) {
            Object.assign(todo, { error, failed: recorded.position })
          }
        }
      }
    }
    return todos
  }
}

const valueAt = (document: Document, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
      document,
    )

/** Whether a document is found under these values of an index. */
export const has = (document: Document, paths: readonly string[], values: readonly Scalar[]) =>
  paths.every((path, n) => valueAt(document, path) === values[n])

type Folded = { changes: Change[]; error?: unknown; done: number }

/** All of a batch or, where it throws, nothing. */
const foldedWhole = (
  { fold }: NonNullable<AnyProjection['stored']>,
  steps: readonly Step[],
  stored: ReadonlyMap<string, Document>,
): Folded => {
  const batches = new Map<string, RecordedEvent[]>()
  for (const { event, ids } of steps)
    for (const id of ids) {
      const batch = batches.get(id)
      if (batch) batch.push(event)
      else batches.set(id, [event])
    }
  try {
    const changes: Change[] = []
    for (const [id, events] of batches) {
      const before = stored.get(id)
      const { view, others } = fold(before, events, id)
      if (view !== before) changes.push({ id, document: view })
      changes.push(...others)
    }
    return { changes, done: steps.length }
  } catch (error) {
    return { changes: [], error, done: 0 }
  }
}

/**
 * The documents after some steps, in the order of their events, each changed document once.
 * `stored` holds the documents of all the steps' ids that are there, and is left as it is.
 * When a handler throws, this is the outcome of the `done` steps before that event.
 */
export const folded = (
  projection: AnyProjection,
  steps: readonly Step[],
  stored: ReadonlyMap<string, Document>,
): Folded => {
  if (projection.stored) return foldedWhole(projection.stored, steps, stored)
  const one = projection as Projection<Document, EventTable>
  const views = new Map<string, Document | undefined>()
  const cleared = new Set<string>()
  for (const [n, { event, clear, ids }] of steps.entries())
    try {
      if (clear) {
        const paths = projection.indexes[clear.index]?.equals ?? []
        for (const [id, view] of views)
          if (view && has(view, paths, clear.equals)) views.set(id, undefined)
        for (const id of clear.stored)
          if (!views.has(id)) {
            views.set(id, undefined)
            cleared.add(id)
          }
      }
      for (const id of ids) {
        const view = views.get(id) ?? (views.has(id) ? undefined : stored.get(id))
        views.set(id, projected(one, view, event, id))
      }
    } catch (error) {
      return { ...folded(projection, steps.slice(0, n), stored), error }
    }
  const changes: Change[] = []
  for (const [id, document] of views)
    if (document !== stored.get(id) || cleared.has(id)) changes.push({ id, document })
  return { changes, done: steps.length }
}
