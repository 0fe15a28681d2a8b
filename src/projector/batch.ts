import type { AnyProjection } from '../../projections/projection.ts'
import { latest, metadataFault } from '../domain/event.ts'
import { type LogBatch, StoreUnavailable } from '../ports/event-store.ts'
import type { Commit, Document, DocumentChange, Views } from '../ports/views.ts'
import { folded } from './fold.ts'
import { batchRouter, type Cursor, type RoutedBatch, type RoutedEvent } from './router.ts'
import type { SetAside } from './set-aside.ts'

/** Where a projection's documents are read and written: one generation of the views, or memory. */
export type ProjectionStore = {
  load(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>
  idsOf: (...find: Parameters<Views['idsOf']>) => Promise<readonly string[]>
  /** `more`: as much is committed next. */
  commit(commits: readonly Commit[], more?: boolean): Promise<void>
}

/** What a batch changed in one read model, up to `position`. An error stopped it there. */
export type FoldedBatch = Commit & {
  cursor: Cursor
  error?: unknown
  /** The request of the event that it stopped at, where there is one. */
  requestId?: string | undefined
}

const nothing: readonly DocumentChange[] = []
const noDocuments: ReadonlyMap<string, Document> = new Map()

/** The documents that a batch is about. */
const idsIn = ({ steps, groups }: RoutedBatch, hasRemainder: boolean): string[] => {
  const ids: string[] = groups ? [...groups.keys()] : []
  for (const { ids: own, marks, clear } of steps) {
    if (hasRemainder) for (const id of clear?.stored ?? []) ids.push(id)
    for (const id of marks?.stream?.stored ?? []) ids.push(id)
    // The events of one append follow each other, and are mostly about the same document.
    if (typeof own === 'string') {
      if (own !== ids.at(-1)) ids.push(own)
    } else for (const id of own) ids.push(id)
  }
  return ids
}

const isByValues = ({ clear, marks }: RoutedEvent): boolean =>
  clear !== undefined || marks?.stream !== undefined

/** Finds the ids of documents that steps name by their values. */
const findIds = async (
  { idsOf }: ProjectionStore,
  view: string,
  steps: readonly RoutedEvent[],
): Promise<void> => {
  for (const { clear, marks } of steps) {
    if (clear) clear.stored = await idsOf(view, clear.index, clear.equals)
    const stream = marks?.stream
    if (stream) stream.stored = await idsOf(view, stream.index, stream.equals)
  }
}

/** Folds what concerns one projection. */
const outcome = async (
  projectionStore: ProjectionStore,
  cursor: Cursor,
  routed: RoutedBatch,
  batch: LogBatch,
): Promise<FoldedBatch> => {
  const { projection, position } = cursor
  const { steps } = routed
  const view = projection.name
  try {
    if (steps.some(isByValues)) await findIds(projectionStore, view, steps)
    const ids = idsIn(routed, 'remainder' in projection)
    const stored = ids.length > 0 ? await projectionStore.load(view, ids) : noDocuments
    const { changes, done, error = routed.error } = folded(projection, routed, stored)
    if (!error) return { cursor, view, changes, position: batch.position }
    const failed = steps[done]?.event.position ?? routed.failed
    const before = batch.events.findLast((event) => event.position < failed)?.position ?? position
    const at = batch.events.find((event) => event.position === failed)
    const requestId =
      at && metadataFault(at.metadata) === undefined ? at.metadata.request_id : undefined
    return { cursor, view, changes, position: latest(position, before), error, requestId }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    return { cursor, view, changes: nothing, position, error }
  }
}

/**
 * Folds batches for a fixed list of projections, each with its own cursor. Returns what is to be
 * committed and writes nothing. Skips cursors that have stopped or are past the batch. A projection
 * whose documents cannot be loaded (damaged, an impossible id) stops alone.
 * @throws StoreUnavailable
 */
export const batchFolder = (projections: readonly AnyProjection[], aside?: SetAside) => {
  const route = batchRouter(projections, aside)
  return async (
    projectionStore: ProjectionStore,
    cursors: readonly Cursor[],
    batch: LogBatch,
  ): Promise<FoldedBatch[]> => {
    const { position } = batch
    const routedBatches = route(batch.events, cursors)
    const outcomes: FoldedBatch[] = []
    const concerned: Promise<FoldedBatch>[] = []
    for (let n = 0; n < cursors.length; n++) {
      const cursor = cursors[n]
      if (!cursor || cursor.error || position <= cursor.position) continue
      const routed = routedBatches[n]
      if (routed) concerned.push(outcome(projectionStore, cursor, routed, batch))
      else outcomes.push({ cursor, view: cursor.projection.name, changes: nothing, position })
    }
    for (const foldedBatch of await Promise.all(concerned)) outcomes.push(foldedBatch)
    return outcomes
  }
}
