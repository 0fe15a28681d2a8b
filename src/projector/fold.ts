import {
  type AnyProjection,
  type EventProjection,
  type LogProjection,
  projected,
  type Totals,
} from '../../projections/projection.ts'
import type { RecordedEvent } from '../ports/event-store.ts'
import type { Document, DocumentChange, Scalar } from '../ports/views.ts'
import type { RoutedBatch, RoutedEvent } from './router.ts'

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

const noGroups: ReadonlyMap<string, readonly RecordedEvent[]> = new Map()

type Folded = { changes: DocumentChange[]; error?: unknown; done: number }

/** All of a batch or, where it throws, nothing. */
const foldedWhole = (
  { stored: { fold } }: LogProjection<Document>,
  groups: ReadonlyMap<string, readonly RecordedEvent[]>,
  stored: ReadonlyMap<string, Document>,
): Folded => {
  try {
    const changes: DocumentChange[] = []
    for (const [id, events] of groups) {
      const before = stored.get(id)
      const { view, others } = fold(before, events, id)
      // Readers may see changes one by one, in this order: the view leads to the others.
      for (const other of others) changes.push(other)
      if (view !== before) changes.push({ id, document: view })
    }
    return { changes, done: 0 }
  } catch (error) {
    return { changes: [], error, done: 0 }
  }
}

/** A document that an unreadable event belongs to. */
const marked = (document: Document | undefined): Document | undefined =>
  !document || document.incomplete ? document : { ...document, incomplete: true }

/**
 * A document as it was before the steps and as they have left it. `cleared`: it was there, but not
 * read.
 */
type Folding = { before: Document | undefined; now: Document | undefined; cleared: boolean }

/** Brings the totals to what the other documents come to. */
const addUp = (
  { isTotal, idOf, moved }: Totals<Document>,
  views: ReadonlyMap<string, Folding>,
  totalOf: (id: string) => Folding,
): void => {
  views.forEach(({ before, now }, id) => {
    const view = now ?? before
    if (!view || now === before || isTotal(id)) return
    const total = totalOf(idOf(view))
    total.now = moved(total.now, before, now)
  })
}

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
  const fold = ({ event, incomplete, marks }: RoutedEvent, id: string) => {
    const view = viewOf(id)
    if (projection.totals?.isTotal(id)) return
    if (!marks) view.now = projected(projection, view.now, event, id)
    if (incomplete) view.now = marked(view.now)
  }
  const markStream = ({ index, equals, stored: ids }: NonNullable<RoutedEvent['clear']>) => {
    const paths = projection.indexes[index]?.equals ?? []
    for (const id of ids) viewOf(id)
    for (const view of views.values())
      if (view.now && matchesIndex(view.now, paths, equals)) view.now = marked(view.now)
  }
  for (const step of steps) {
    const { clear, ids, marks } = step
    try {
      if (marks?.stream) markStream(marks.stream)
      if (clear) {
        const paths = projection.indexes[clear.index]?.equals ?? []
        if (projection.remainder) for (const id of clear.stored) viewOf(id)
        for (const view of views.values())
          if (view.now && matchesIndex(view.now, paths, clear.equals))
            view.now = projection.remainder?.(view.now)
        for (const id of clear.stored)
          if (!views.has(id)) views.set(id, { before: undefined, now: undefined, cleared: true })
      }
      if (typeof ids === 'string') fold(step, ids)
      else for (const id of ids) fold(step, id)
    } catch (error) {
      // An event that depends on a skipped event must not stop the projection.
      if (step.incomplete) {
        done++
        continue
      }
      return { ...foldedOneByOne(projection, steps.slice(0, done), stored), error }
    }
    done++
  }
  if (projection.totals) addUp(projection.totals, views, viewOf)
  const changes: DocumentChange[] = []
  for (const [id, { before, now, cleared }] of views)
    if (now !== before || cleared) changes.push({ id, document: now })
  return { changes, done }
}

/**
 * The documents after a batch, in the order of their events, each changed document once.
 * `stored` holds the documents of all ids of the batch that are there, and is left as it is.
 */
export const folded = (
  projection: AnyProjection,
  { steps, groups = noGroups }: Pick<RoutedBatch, 'steps' | 'groups'>,
  stored: ReadonlyMap<string, Document>,
): Folded =>
  'stored' in projection
    ? foldedWhole(projection, groups, stored)
    : foldedOneByOne(projection, steps, stored)
