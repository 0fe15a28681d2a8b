import type { AnyProjection } from '../../projections/projection.ts'
import { type EventStore, type RecordedEvent, START } from '../ports/event-store.ts'
import { batchFolder, commitsOf, type ProjectionStore } from './batch.ts'
import type { Cursor } from './router.ts'

/** Events per commit: large enough to write a busy document once, small enough not to be felt. */
const size = 2_000

/** Small batches joined to larger ones; nothing beyond a position. */
async function* joined(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  upTo: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  let leading: RecordedEvent[] = []
  for await (const batch of batches) {
    const past = batch.findIndex(({ position }) => position > upTo)
    for (const event of past < 0 ? batch : batch.slice(0, past)) leading.push(event)
    if (past >= 0) break
    if (leading.length < size) continue
    yield leading
    leading = []
  }
  if (leading.length > 0) yield leading
}

type Replay = {
  store: Pick<EventStore, 'history'>
  projection: AnyProjection
  projectionStore: ProjectionStore
  /** The position that the store is folded up to; START (-1) unless given. */
  after?: number
  /** The last position to fold; the head at the time of the call unless given. */
  upTo?: number
  /** Called after every commit with the events read so far and the position reached. */
  progress?: (events: number, position: number) => void
  signal?: AbortSignal
}

/**
 * Folds the log into a store, for one projection, and returns how far it came.
 * @throws what stops the projection (UnknownEvent, UnreadableEvent, a handler's error), after
 * everything before that event is committed
 */
export const replay = async (options: Replay): Promise<{ events: number; position: number }> => {
  const {
    store,
    projection,
    projectionStore,
    upTo = Number.POSITIVE_INFINITY,
    progress,
    signal,
  } = options
  const cursor: Cursor = { projection, position: options.after ?? START }
  const fold = batchFolder([projection])
  let events = 0
  for await (const batch of joined(store.history(cursor.position), upTo)) {
    signal?.throwIfAborted()
    const outcomes = await fold(projectionStore, [cursor], batch)
    await projectionStore.commit(commitsOf(outcomes))
    for (const { position, error } of outcomes) {
      if (error) throw error
      cursor.position = position
    }
    events += batch.length
    progress?.(events, cursor.position)
  }
  return { events, position: cursor.position }
}
