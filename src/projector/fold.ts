import {
  type AnyProjection,
  type EventProjection,
  type LogProjection,
  projected,
} from '../../projections/projection.ts'
import type { RecordedEvent } from '../ports/event-store.ts'
import type { Document, DocumentChange, Scalar } from '../ports/views.ts'
import type { RoutedEvent } from './router.ts'

const valueAt = (document: Document, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
      document,
    )

/** Whether a document is found under these values of an index. */
export const matchesIndex = (
  document: Document,
  paths: readonly string[],
  values: readonly Scalar[],
) => paths.every((path, n) => valueAt(document, path) === values[n])

/** The ids of a step as a list. */
const listOf = (ids: RoutedEvent['ids']): readonly string[] =>
  typeof ids === 'string' ? [ids] : ids

type Folded = { changes: DocumentChange[]; error?: unknown; done: number }

/** All of a batch or, where it throws, nothing. */
const foldedWhole = (
  { stored: { fold } }: LogProjection<Document>,
  steps: readonly RoutedEvent[],
  stored: ReadonlyMap<string, Document>,
): Folded => {
  const batches = new Map<string, RecordedEvent[]>()
  for (const { event, ids } of steps)
    for (const id of listOf(ids)) {
      const batch = batches.get(id)
      if (batch) batch.push(event)
      else batches.set(id, [event])
    }
  try {
    const changes: DocumentChange[] = []
    for (const [id, events] of batches) {
      const before = stored.get(id)
      const { view, others } = fold(before, events, id)
      // Readers may see changes one by one, in this order: the view leads to the others.
      changes.push(...others)
      if (view !== before) changes.push({ id, document: view })
    }
    return { changes, done: steps.length }
  } catch (error) {
    return { changes: [], error, done: 0 }
  }
}

/**
 * A document as it was before the steps and as they have left it. `cleared`: it was there, but not read.
 */
type Folding = { before: Document | undefined; now: Document | undefined; cleared: boolean }

/** When a handler throws, this is the outcome of the `done` steps before that event. */
const foldedOneByOne = (
  projection: EventProjection,
  steps: readonly RoutedEvent[],
  stored: ReadonlyMap<string, Document>,
): Folded => {
  const views = new Map<string, Folding>()
  let done = 0
  const viewOf = (id: string): Folding => {
    const known = views.get(id)
    if (known) return known
    const before = stored.get(id)
    const view = { before, now: before, cleared: false }
    views.set(id, view)
    return view
  }
  const fold = (event: RoutedEvent['event'], id: string) => {
    const view = viewOf(id)
    view.now = projected(projection, view.now, event, id)
  }
  for (const { event, clear, ids } of steps) {
    try {
      if (clear) {
        const paths = projection.indexes[clear.index]?.equals ?? []
        for (const view of views.values())
          if (view.now && matchesIndex(view.now, paths, clear.equals)) view.now = undefined
        for (const id of clear.stored)
          if (!views.has(id)) views.set(id, { before: undefined, now: undefined, cleared: true })
      }
      if (typeof ids === 'string') fold(event, ids)
      else for (const id of ids) fold(event, id)
    } catch (error) {
      return { ...foldedOneByOne(projection, steps.slice(0, done), stored), error }
    }
    done++
  }
  const changes: DocumentChange[] = []
  for (const [id, { before, now, cleared }] of views)
    if (now !== before || cleared) changes.push({ id, document: now })
  return { changes, done }
}

/**
 * The documents after some steps, in the order of their events, each changed document once.
 * `stored` holds the documents of all the steps' ids that are there, and is left as it is.
 */
export const folded = (
  projection: AnyProjection,
  steps: readonly RoutedEvent[],
  stored: ReadonlyMap<string, Document>,
): Folded =>
  'stored' in projection
    ? foldedWhole(projection, steps, stored)
    : foldedOneByOne(projection, steps, stored)
