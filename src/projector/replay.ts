import { setImmediate } from 'node:timers/promises'
import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { type EventStore, type RecordedEvent, START } from '../ports/event-store.ts'
import { batchFolder, type ProjectionStore } from './batch.ts'
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

type Together = {
  store: Pick<EventStore, 'history'>
  projections: readonly AnyProjection[]
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

type Replayed = { events: number; position: Position }

/**
 * Folds the log into a store, for several projections in one pass. A projection that stops has
 * everything before that event committed, and does not hold up the others; the pass ends when all
 * have stopped. `cursors` say how far each came, and what stopped it.
 */
export const replayTogether = async (
  options: Together,
): Promise<Replayed & { cursors: readonly Cursor[] }> => {
  const { store, projections, projectionStore, upTo, progress, signal } = options
  const { step = usualStep, after = START } = options
  const cursors = projections.map((projection): Cursor => ({ projection, position: after }))
  const fold = batchFolder(projections)
  let events = 0
  let position = after
  for await (const batch of steps(store.history(after), upTo, step)) {
    const end = batch.at(-1)?.position ?? position
    signal?.throwIfAborted()
    const outcomes = await fold(projectionStore, cursors, { events: batch, position: end })
    await projectionStore.commit(outcomes, true)
    for (const { cursor, position: reached, error } of outcomes)
      Object.assign(cursor, { position: reached, error })
    if (cursors.every(({ error }) => error)) break
    position = end
    events += batch.length
    progress?.(events, position)
    await setImmediate()
  }
  return { events, position, cursors }
}

type Replay = Omit<Together, 'projections'> & { projection: AnyProjection }

/**
 * Folds the log into a store, for one projection, and returns how far it came.
 * @throws what stops the projection (UnknownEvent, UnreadableEvent, a handler's error), after
 * everything before that event is committed
 */
export const replay = async ({ projection, ...options }: Replay): Promise<Replayed> => {
  const { cursors, ...reached } = await replayTogether({ ...options, projections: [projection] })
  for (const { error } of cursors) if (error) throw error
  return reached
}
