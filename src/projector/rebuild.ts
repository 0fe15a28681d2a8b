import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { type EventReads, START } from '../ports/event-store.ts'
import type { Views } from '../ports/views.ts'
import type { SerialQueue } from '../support/serial-queue.ts'
import type { ProjectionStore } from './batch.ts'
import { replay, replayTogether } from './replay.ts'

/** Passes over what came in during the one before; the last one holds the live projector up. */
const maxPasses = 10
const fewEvents = 2_000
/** So many events are folded in some milliseconds: requests are answered between them. */
const step = 100

/** How far a rebuild is; `percent` is of the log as it was when the rebuild began. */
export type Progress = { events: number; percent: number }

type Rebuild = {
  store: EventReads
  views: Views
  projection: AnyProjection
  /** The live projector's order; without one, nothing else may write views meanwhile. */
  serially?: SerialQueue
  progress?: (progress: Progress) => void
  /** Called in the same turn with the position that the new live read model stands at. */
  swapped?: (position: Position) => void
  signal?: AbortSignal
}

/** `gathers`: changes are written in bulk, which would keep requests waiting. */
const beside = (views: Views, gathers: boolean): ProjectionStore => ({
  load: (view, ids) => views.load(view, ids, 'rebuild'),
  idsOf: (view, index, equals) => views.idsOf(view, index, equals, 'rebuild'),
  commit: (commits) => views.commit(commits, 'rebuild', gathers),
})

const percentOf = (left: number, total: number): number =>
  total > 0 ? Math.floor((1 - left / total) * 100) : 100

/**
 * Builds a read model anew from the log, beside the live one, which answers until the new one is
 * swapped in. The last events are folded and the swap is done while no batch is under way, so that
 * none is lost or folded twice. A rebuild that fails or is aborted leaves the live one as it was.
 */
export const rebuild = async (options: Rebuild): Promise<void> => {
  const { store, views, projection, progress, swapped, signal } = options
  const { serially = (work) => work() } = options
  const { name } = projection
  const projectionStore = beside(views, false)
  const head = await store.head()
  const total = store.distance(START, head).amount
  let folded = 0
  let position = START
  const pass = async (): Promise<number> => {
    const before = folded
    const report = (events: number, at: Position) => {
      const left = store.distance(at, head).amount
      progress?.({ events: before + events, percent: percentOf(left, total) })
    }
    const options = { store, projection, projectionStore, after: position, step, progress: report }
    const { events, ...reached } = await replay(signal ? { ...options, signal } : options)
    folded += events
    position = reached.position
    return events
  }

  await views.beginRebuild(name)
  for (let n = 0; n < maxPasses; n++) if ((await pass()) < fewEvents) break
  await serially(async () => {
    await pass()
    signal?.throwIfAborted()
    await views.swap(name)
    swapped?.(position)
  })
}

type Together = Pick<Rebuild, 'store' | 'views' | 'progress' | 'signal'> & {
  projections: readonly AnyProjection[]
}

/**
 * Rebuilds read models in one pass over the log, as a bulk load, while nothing is served or
 * projected. The live ones stay as they are until the end. Later events are for the next projector;
 * a rebuild that was cut off starts anew. @throws the first failure, after the others are swapped
 */
export const rebuildTogether = async (options: Together): Promise<void> => {
  const { store, views, projections, progress, signal } = options
  const head = await store.head()
  const total = store.distance(START, head).amount
  for (const { name } of projections) await views.beginRebuild(name)
  const { cursors } = await replayTogether({
    store,
    projections,
    projectionStore: beside(views, true),
    progress: (events, at) =>
      progress?.({ events, percent: percentOf(store.distance(at, head).amount, total) }),
    ...(signal ? { signal } : {}),
  })
  signal?.throwIfAborted()
  for (const { projection, error } of cursors) if (!error) await views.swap(projection.name)
  for (const { error } of cursors) if (error) throw error
}
