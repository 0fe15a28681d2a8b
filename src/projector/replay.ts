import { setImmediate } from 'node:timers/promises'
import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { type EventStore, type RecordedEvent, START } from '../ports/event-store.ts'
import { batchFolder, commitsOf, type ProjectionStore } from './batch.ts'
import type { Cursor } from './router.ts'

/** Events folded and committed together: large enough to write a busy document once. */
const usualStep = 4_000

/** Batches joined or cut to steps; nothing beyond a position. */
async function* steps(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  upTo: Position | undefined,
  size: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  let gathered: RecordedEvent[] = []
  for await (const batch of batches) {
    const past = upTo === undefined ? -1 : batch.findIndex(({ position }) => position > upTo)
    for (const event of past < 0 ? batch : batch.slice(0, past)) {
      gathered.push(event)
      if (gathered.length < size) continue
      yield gathered
      gathered = []
    }
    if (past >= 0) break
  }
  if (gathered.length > 0) yield gathered
}

type Replay = {
  store: Pick<EventStore, 'history'>
  projection: AnyProjection
  projectionStore: ProjectionStore
  /** The position that the store is folded up to; START (-1) unless given. */
  after?: Position
  /** The last position to fold; the head at the time of the call unless given. */
  upTo?: Position
  /** How many events are folded and committed in one turn of the event loop; 4,000 unless given. */
  step?: number
  /** Called after every commit with the events read so far and the position reached. */
  progress?: (events: number, position: Position) => void
  signal?: AbortSignal
}

/**
 * Folds the log into a store, for one projection, and returns how far it came.
 * @throws what stops the projection (UnknownEvent, UnreadableEvent, a handler's error), after
 * everything before that event is committed
 */
export const replay = async (options: Replay): Promise<{ events: number; position: Position }> => {
  const { store, projection, projectionStore, upTo, progress, signal } = options
  const { step = usualStep } = options
  const cursor: Cursor = { projection, position: options.after ?? START }
  const fold = batchFolder([projection])
  let events = 0
  for await (const batch of steps(store.history(cursor.position), upTo, step)) {
    const position = batch.at(-1)?.position ?? cursor.position
    signal?.throwIfAborted()
    const outcomes = await fold(projectionStore, [cursor], { events: batch, position })
    await projectionStore.commit(commitsOf(outcomes))
    for (const { position: reached, error } of outcomes) {
      if (error) throw error
      cursor.position = reached
    }
    events += batch.length
    progress?.(events, cursor.position)
    await setImmediate()
  }
  return { events, position: cursor.position }
}
