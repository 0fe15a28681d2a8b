import { projections } from '../../../projections/all.ts'
import { type Position, position, timeOf } from '../../domain/event.ts'
import { type RecordedEvent, START } from '../../ports/event-store.ts'
import type { Document } from '../../ports/views.ts'
import { memoryProjectionStore } from '../../projector/memory-store.ts'
import { replay } from '../../projector/replay.ts'
import { CommandFailed } from '../command-failed.ts'
import { eventsIn } from './events-in.ts'

/** Read models that are folded from the organization's own events. */
const replayed = projections.filter((projection) => !('stored' in projection))

/** The position of the last event before the first that is later than a time. */
const positionAt = async (path: string, time: number): Promise<Position> => {
  let last = START
  for await (const events of eventsIn(path))
    for (const event of events) {
      if ((timeOf(event) ?? time) > time) return last
      last = event.position
    }
  return last
}

const upTo = async (path: string, asOf: string): Promise<Position> => {
  if (/^\d+$/.test(asOf)) return position.parse(Number(asOf))
  const time = Date.parse(asOf)
  if (Number.isNaN(time))
    throw new CommandFailed(`--as-of ${asOf} is neither a time (ISO 8601) nor a position`, 2)
  return positionAt(path, time)
}

/**
 * A read model as it was after a position or at a time, from an export alone; by document id.
 * Sealed texts stay sealed. @throws CommandFailed
 */
export const replayExport = async (
  path: string,
  { view, asOf }: { view: string; asOf?: string | undefined },
): Promise<ReadonlyMap<string, Document>> => {
  const projection = replayed.find(({ name }) => name === view)
  if (!projection)
    throw new CommandFailed(
      `--view ${view} is unknown; there are: ${replayed.map(({ name }) => name).join(', ')}`,
      2,
    )
  const projectionStore = memoryProjectionStore(projection)
  const history = (): AsyncIterable<readonly RecordedEvent[]> => eventsIn(path)
  const until = asOf === undefined ? {} : { upTo: await upTo(path, asOf) }
  await replay({ store: { history }, projection, projectionStore, ...until })
  return projectionStore.documents
}
