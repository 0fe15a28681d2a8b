import {
  type Appended,
  type ExpectedRevision,
  type RecordedEvent,
  RevisionConflict,
  START,
} from '../../ports/event-store.ts'
import { NotYet } from './commit-queue.ts'
import type { LogReader } from './reader.ts'

type Placing = {
  reader: LogReader
  /** The ids of the events that go into a stream by the transaction under way, if any. */
  going: (stream: string) => readonly string[] | undefined
}

/** The last event of this append, if all of it is already stored there. */
const storedBefore = (
  { reader: { slice }, going }: Placing,
  stream: string,
  first: number,
  ids: readonly string[],
): Appended | undefined => {
  if (going(stream)) throw new NotYet()
  const stored: RecordedEvent[] = []
  while (stored.length < ids.length) {
    const more = slice(stream, first + stored.length)
    if (more.length === 0) return undefined
    stored.push(...more)
  }
  const last = stored[ids.length - 1]
  if (!last || ids.some((id, n) => stored[n]?.id !== id)) return undefined
  return { revision: last.revision, position: last.position }
}

/** The revision of the event with this id in its stream, if any. */
const revisionOf = ({ reader, going }: Placing, stream: string, id: string) => {
  if (going(stream)?.includes(id)) throw new NotYet()
  return reader.find(stream, id)
}

/**
 * Where an append goes: the revision of its first event, or where the same append went before.
 * With an explicit expectation the events that follow it are compared; with `any` the stream is
 * searched for the first id.
 * @throws RevisionConflict; NotYet where that depends on what is not on disk
 */
export const placeOf = (
  placing: Placing,
  stream: string,
  expected: ExpectedRevision,
  ids: readonly string[],
  actual: number,
): { first: number } | { before: Appended } => {
  const next = actual + 1
  const [id = ''] = ids
  const sought = expected === 'any' && actual > START ? revisionOf(placing, stream, id) : undefined
  const first = expected === 'any' ? (sought ?? next) : expected + 1
  if (first === next) return { first }
  const before = first < next ? storedBefore(placing, stream, first, ids) : undefined
  if (!before) throw new RevisionConflict(stream, expected, actual)
  return { before }
}
