import {
  concatMap,
  defer,
  EMPTY,
  finalize,
  type Observable,
  of,
  repeat,
  retry,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs'
import type { batchFolder, Outcome } from './batch.ts'
import type { Lane } from './fold.ts'
import type { Serially } from './in-order.ts'
import { backOff, committed, patient, type Spell } from './patient.ts'
import type { EventStore, RecordedEvent } from './ports/event-store.ts'

/** A view is further on than its log: it was folded from another one. Rebuild it. */
class ViewAhead extends Error {
  override readonly name = 'ViewAhead'
  constructor(view: string, position: number, head: number) {
    super(`${view} stands at position ${position}, but the log ends at ${head}: rebuild it`)
  }
}

type Term = Spell & {
  store: EventStore
  lanes: readonly Lane[]
  fold: ReturnType<typeof batchFolder>
  serially: Serially
  /** Told where every lane stands when the term begins, and after every commit. */
  done: (outcomes: readonly Outcome[]) => void
}

/**
 * One spell of projecting: reads the checkpoints, then feed → batch → fold → commit for as long as
 * the right is held. The next batch is pulled when the last is stored. Whatever goes wrong with
 * the feed starts it over from the stored checkpoints.
 */
export const term = (options: Term): Observable<unknown> => {
  const { store, views, lanes, fold, serially, held, done, log, signal } = options
  const sink = patient(options)

  const settled = (outcomes: readonly Outcome[]) => {
    for (const { lane, position, error } of outcomes) Object.assign(lane, { position, error })
    done(outcomes)
  }

  const begin = async () => {
    const head = await store.head()
    const outcomes = lanes.map(async (lane): Promise<Outcome> => {
      const { name } = lane.projection
      const position = await views.checkpoint(name)
      const ahead = position > head ? { error: new ViewAhead(name, position, head) } : {}
      return { lane, changes: [], position, ...ahead }
    })
    settled(await Promise.all(outcomes))
    return Math.min(...lanes.map(({ position }) => position))
  }

  const step = async (batch: readonly RecordedEvent[]) => {
    if (signal.aborted) return
    settled(await committed(sink, await fold(sink, lanes, batch)))
  }

  return defer(() => {
    const ending = new AbortController()
    return defer(() => serially(begin)).pipe(
      switchMap((after) => {
        const feed = store.feed(after, ending.signal)[Symbol.asyncIterator]()
        return defer(() => feed.next()).pipe(
          concatMap(({ done, value }) =>
            done ? of(false) : serially(() => step(value)).then(() => true),
          ),
          repeat(),
          takeWhile(Boolean),
        )
      }),
      finalize(() => ending.abort()),
    )
  }).pipe(
    retry({
      delay: (err, attempt) => {
        if (signal.aborted || !held()) return EMPTY
        log.error(
          { err, attempt },
          'projecting was interrupted, starting over from the checkpoints',
        )
        return timer(backOff(attempt))
      },
      resetOnSuccess: true,
    }),
  )
}
