import {
  concatMap,
  defer,
  EMPTY,
  finalize,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  repeat,
  retry,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs'
import { earliest, type Position } from '../domain/event.ts'
import type { EventReads } from '../ports/event-store.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import { backOff } from '../support/back-off.ts'
import type { SerialQueue } from '../support/serial-queue.ts'
import type { batchFolder, FoldedBatch } from './batch.ts'
import { committed, type Leadership, retryingStore } from './retrying-store.ts'
import type { Cursor } from './router.ts'
import { type Stretch, stretches } from './stretches.ts'

/** The views were dropped: they are folded from the start. */
class ViewsRenewed extends Error {
  override readonly name = 'ViewsRenewed'
}

/** A view is further on than its log: it was folded from another one. Rebuild it. */
class ViewAhead extends Error {
  override readonly name = 'ViewAhead'
  constructor(view: string, position: Position, end: Position) {
    super(`${view} stands at position ${position}, but the log ends at ${end}: rebuild it`)
  }
}

type LoopOptions = Leadership & {
  store: EventReads
  cursors: readonly Cursor[]
  fold: ReturnType<typeof batchFolder>
  serially: SerialQueue
  /** Loads the unreadable events found before. */
  learn: () => Promise<void>
  /** Called with the position of every cursor when the loop begins, and after every commit. */
  done: (outcomes: readonly FoldedBatch[]) => void
  /** Emits when the stored checkpoints went back. */
  renewed?: Observable<unknown>
  gathered?: boolean | undefined
  telemetry?: Telemetry | undefined
}

const settle = ({ done }: Pick<LoopOptions, 'done'>, outcomes: readonly FoldedBatch[]): void => {
  for (const { cursor, position, error } of outcomes) {
    cursor.position = position
    cursor.error = error
  }
  done(outcomes)
}

/** Reads the checkpoints. Answers the position from which the feed is read. */
const readCheckpoints = async (options: LoopOptions): Promise<Position> => {
  const { store, views, cursors } = options
  await options.learn()
  const end = await store.end()
  const outcomes = cursors.map(async (cursor): Promise<FoldedBatch> => {
    const { name } = cursor.projection
    const position = await views.checkpoint(name)
    const ahead = position > end ? { error: new ViewAhead(name, position, end) } : {}
    return { cursor, view: name, changes: [], position, ...ahead }
  })
  settle(options, await Promise.all(outcomes))
  return earliest(...cursors.map(({ position }) => position))
}

/** Folds and commits a batch of the feed. */
const foldBatch = async (
  options: LoopOptions,
  projectionStore: ReturnType<typeof retryingStore>,
  batch: Stretch,
): Promise<void> => {
  const { cursors, fold, signal, telemetry } = options
  if (signal.aborted) return
  const span = telemetry?.begin('projection batch', {
    attributes: { 'reprise.events': batch.events.length, 'reprise.position': batch.position },
  })
  try {
    const outcomes = await fold(projectionStore, cursors, batch)
    settle(options, await committed(projectionStore, outcomes, batch.more))
    span?.end()
  } catch (error) {
    span?.end({}, error instanceof Error ? error.name : 'Error')
    throw error
  }
}

/** Folds the feed from the stored checkpoints until it fails, or the views are renewed. */
const foldFeed = (options: LoopOptions): Observable<unknown> => {
  const { store, serially, leading, renewed = NEVER, gathered } = options
  const ending = new AbortController()
  // A batch under way must not be stored where what it was folded from is gone.
  const holds = () => leading() && !ending.signal.aborted
  const projectionStore = retryingStore({ ...options, leading: holds })
  const renewal = renewed.pipe(
    map((): never => {
      ending.abort()
      throw new ViewsRenewed('the views are folded from the start')
    }),
  )
  const batches = defer(() => serially(() => readCheckpoints(options))).pipe(
    switchMap((after) => {
      const feed = stretches(store, after, ending.signal, gathered)
      return defer(() => feed.next()).pipe(
        concatMap(({ done, value }) =>
          done
            ? of(false)
            : serially(() => foldBatch(options, projectionStore, value)).then(() => true),
        ),
        repeat(),
      )
    }),
  )
  return merge(renewal, batches).pipe(
    takeWhile(Boolean),
    finalize(() => ending.abort()),
  )
}

/**
 * The loop of a leading projector: reads the checkpoints, then feed → batch → fold → commit while
 * this process leads. The next batch is pulled when the last is stored; far from the end of the log
 * batches are larger. An error of the feed starts the loop over from the stored checkpoints.
 */
export const projectorLoop = (options: LoopOptions): Observable<unknown> =>
  defer(() => foldFeed(options)).pipe(
    retry({
      delay: (err, attempt) => {
        if (options.signal.aborted || !options.leading()) return EMPTY
        options.log.error(
          { err, attempt },
          'projecting was interrupted, starting over from the checkpoints',
        )
        return timer(backOff(attempt))
      },
      resetOnSuccess: true,
    }),
  )
