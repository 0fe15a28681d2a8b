import {
  type Appended,
  type ExpectedRevision,
  type RecordedEvent,
  RevisionConflict,
  START,
} from '../../ports/event-store.ts'
import { NotYet } from './commit-queue.ts'
import type { LogReader } from './reader.ts'
import { idsOf, type NewRecord } from './record.ts'

type InStream = {
  reader: LogReader
  /** The records that go into a stream by the transaction under way. */
  pending: (stream: string) => readonly NewRecord[]
}

/** The last event of this append, if all of it is already stored there. */
const storedBefore = (
  { reader: { slice }, pending }: InStream,
  record: NewRecord,
  first: number,
): Appended | undefined => {
  const { stream } = record
  if (pending(stream).length > 0) throw new NotYet()
  const ids = idsOf(record)
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

/** The revision of the first of these events in its stream, if any. */
const revisionOf = ({ reader, pending }: InStream, record: NewRecord) => {
  const { stream } = record
  const [id = ''] = idsOf(record)
  if (pending(stream).some((other) => idsOf(other).includes(id))) throw new NotYet()
  return reader.find(stream, id)
}

/**
 * Where an append goes: the revision of its first event, or where the same append went before.
 * With an explicit expectation the events that follow it are compared; with `any` the stream is
 * searched for the first id.
 * @throws RevisionConflict; NotYet where that depends on what is not on disk
 */
export const placeOf = (
  inStream: InStream,
  record: NewRecord,
  expected: ExpectedRevision,
  actual: number,
): number | Appended => {
  const next = actual + 1
  const sought = expected === 'any' && actual > START ? revisionOf(inStream, record) : undefined
  const first = expected === 'any' ? (sought ?? next) : expected + 1
  if (first === next) return first
  const before = first < next ? storedBefore(inStream, record, first) : undefined
  if (!before) throw new RevisionConflict(record.stream, expected, actual)
  return before
}
