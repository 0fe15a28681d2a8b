import { setTimeout as pause } from 'node:timers/promises'
import { StoreDamaged, StoreUnavailable } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import { CheckpointMoved, DocumentRefused, type Views } from '../ports/views.ts'
import { backOff } from '../support/back-off.ts'
import type { FoldedBatch, ProjectionStore } from './batch.ts'

/** The lease ran out in the middle of a batch. Nothing of the batch was written. */
class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost'
}

/** Errors after which the loop starts over from the stored checkpoints. */
const restartsLoop = (error: unknown): boolean =>
  error instanceof LeadershipLost || error instanceof CheckpointMoved

/** What a process needs while it leads, and so may write views. */
export type Leadership = {
  views: Views
  /** Whether this process still leads. Ask before every write. */
  leading: () => boolean
  log: Log
  /** Ends the loop. A batch under way is finished unless the views are out of reach. */
  signal: AbortSignal
}

/** Tries for errors that are not StoreUnavailable, in case they pass. */
const maxAttempts = 5

/** The views as a projection store. Retries with back-off while this process leads. */
export const retryingStore = ({ views, leading, log, signal }: Leadership): ProjectionStore => {
  const until = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await work()
      } catch (err) {
        if (signal.aborted || !leading() || restartsLoop(err) || err instanceof StoreDamaged)
          throw err
        if (err instanceof DocumentRefused) throw err
        if (!(err instanceof StoreUnavailable) && attempt >= maxAttempts) throw err
        log.warn({ err, attempt }, 'the views are out of reach, trying again')
        await pause(backOff(attempt), undefined, { signal }).catch(() => undefined)
      }
  }
  return {
    load: (view, ids) => until(() => views.load(view, ids)),
    idsOf: (view, index, equals) => until(() => views.idsOf(view, index, equals)),
    commit: (commits, more) =>
      until(async () => {
        if (!leading()) throw new LeadershipLost()
        await views.commit(commits, 'live', more)
      }),
  }
}

/** Commits folded batches. A projection whose commit fails stops alone. */
export const committed = async (
  projectionStore: ProjectionStore,
  outcomes: readonly FoldedBatch[],
  more = false,
): Promise<readonly FoldedBatch[]> => {
  try {
    if (outcomes.length > 0) await projectionStore.commit(outcomes, more)
    return outcomes
  } catch (error) {
    if (restartsLoop(error) || error instanceof StoreUnavailable) throw error
    const [first, ...others] = outcomes
    if (first && others.length === 0)
      return [{ ...first, changes: [], position: first.cursor.position, error }]
    const each: FoldedBatch[] = []
    for (const outcome of outcomes)
      each.push(...(await committed(projectionStore, [outcome], more)))
    return each
  }
}
