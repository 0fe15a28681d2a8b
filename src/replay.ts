import type { AnyProjection } from '../projections/projection.ts'
import { batchFolder, commitsOf, type Sink } from './batch.ts'
import type { Lane } from './fold.ts'
import { type EventStore, type RecordedEvent, START } from './ports/event-store.ts'

/** Events per commit: large enough to write a busy document once, small enough not to be felt. */
const size = 2_000

/** Small batches joined to larger ones; nothing beyond a position. */
async function* joined(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  upTo: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  let held: RecordedEvent[] = []
  for await (const batch of batches) {
    const past = batch.findIndex(({ position }) => position > upTo)
    for (const event of past < 0 ? batch : batch.slice(0, past)) held.push(event)
    if (past >= 0) break
    if (held.length < size) continue
    yield held
    held = []
  }
  if (held.length > 0) yield held
}

type Replay = {
  store: Pick<EventStore, 'history'>
  projection: AnyProjection
  sink: Sink
  /** Where the sink stands; START (-1) unless given. */
  after?: number
  /** The last position to fold; the head at the time of the call unless given. */
  upTo?: number
  /** Called after every commit with the events read so far and the position reached. */
  progress?: (events: number, position: number) => void
  signal?: AbortSignal
}

/**
 * Folds the log into a sink, for one projection, and answers how far it came.
 * @throws what stops the projection (UnknownEvent, UnreadableEvent, a handler's error), after
 * everything before that event is committed
 */
export const replay = async (options: Replay): Promise<{ events: number; position: number }> => {
  const { store, projection, sink, upTo = Number.POSITIVE_INFINITY, progress, signal } = options
  const lane: Lane = { projection, position: options.after ?? START }
  const fold = batchFolder([projection])
  let events = 0
  for await (const batch of joined(store.history(lane.position), upTo)) {
    signal?.throwIfAborted()
    const outcomes = await fold(sink, [lane], batch)
    await sink.commit(commitsOf(outcomes))
    for (const { position, error } of outcomes) {
      if (error) throw error
      lane.position = position
    }
    events += batch.length
    progress?.(events, lane.position)
  }
  return { events, position: lane.position }
}
