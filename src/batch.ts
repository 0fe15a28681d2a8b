import type { AnyProjection } from '../projections/projection.ts'
import { folded, type Lane, type Step, sorter, type Todo } from './fold.ts'
import { type RecordedEvent, START, StoreUnavailable } from './ports/event-store.ts'
import type { Change, Commit, Document, Views } from './ports/views.ts'

/** What a fold needs of the views: one generation of them, or anything that stands in for it. */
export type Sink = {
  load(view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>
  idsOf: (...find: Parameters<Views['idsOf']>) => Promise<readonly string[]>
  commit(commits: readonly Commit[]): Promise<void>
}

/** What a batch came to for one projection, up to `position`; an error is what ended it there. */
export type Outcome = { lane: Lane; changes: readonly Change[]; position: number; error?: unknown }

const fetched = async (
  sink: Sink,
  { name }: AnyProjection,
  steps: readonly Step[],
): Promise<ReadonlyMap<string, Document>> => {
  const ids = new Set<string>()
  const finds: Promise<void>[] = []
  for (const { ids: own, clear } of steps) {
    for (const id of own) ids.add(id)
    if (clear)
      finds.push(
        sink.idsOf(name, clear.index, clear.equals).then((stored) => {
          clear.stored = stored
        }),
      )
  }
  await Promise.all(finds)
  return ids.size > 0 ? sink.load(name, [...ids]) : new Map()
}

const outcome = async (
  sink: Sink,
  lane: Lane,
  { steps, ...todo }: Todo,
  batch: readonly RecordedEvent[],
): Promise<Outcome> => {
  const { projection, position } = lane
  try {
    const stored = await fetched(sink, projection, steps)
    const { changes, done, error = todo.error } = folded(projection, steps, stored)
    if (!error) return { lane, changes, position: batch.at(-1)?.position ?? position }
    const failed = steps[done]?.event.position ?? todo.failed
    const before = batch.findLast((event) => event.position < failed)?.position ?? position
    return { lane, changes, position: Math.max(position, before), error }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    return { lane, changes: [], position, error }
  }
}

/**
 * Folds batches for a fixed list of projections, each in a lane of its own. Answers what is to be
 * committed and changes nothing itself; lanes that are stopped, or further on, are left out. What
 * the sink cannot load for one projection (damaged, an impossible id) ends that one.
 * @throws StoreUnavailable
 */
export const batchFolder = (projections: readonly AnyProjection[]) => {
  const sorted = sorter(projections)
  return async (
    sink: Sink,
    lanes: readonly Lane[],
    batch: readonly RecordedEvent[],
  ): Promise<Outcome[]> => {
    const end = batch.at(-1)?.position ?? START
    const todos = sorted(batch, lanes)
    const outcomes: (Outcome | Promise<Outcome>)[] = []
    for (const [n, lane] of lanes.entries()) {
      const todo = todos[n]
      if (!todo || lane.error || end <= lane.position) continue
      const idle = todo.steps.length === 0 && !todo.error
      outcomes.push(idle ? { lane, changes: [], position: end } : outcome(sink, lane, todo, batch))
    }
    return Promise.all(outcomes)
  }
}

/** The outcomes as the views take them. */
export const commitsOf = (outcomes: readonly Outcome[]): Commit[] =>
  outcomes.map(({ lane, changes, position }) => ({
    view: lane.projection.name,
    changes,
    position,
  }))
