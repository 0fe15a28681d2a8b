import {
  type Appended,
  type ExpectedRevision,
  type RecordedEvent,
  RevisionConflict,
} from '../../ports/event-store.ts'
import type { LogReader } from './reader.ts'

/** The last event of this append, if all of it is already stored there. */
const storedBefore = (
  { slice }: LogReader,
  stream: string,
  first: number,
  ids: readonly string[],
): Appended | undefined => {
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

/**
 * Where an append goes: the revision of its first event, or where the same append went before.
 * With an explicit expectation the events that follow it are compared; with `any` the stream is
 * searched for the first id.
 * @throws RevisionConflict
 */
export const placeOf = (
  reader: LogReader,
  stream: string,
  expected: ExpectedRevision,
  ids: readonly string[],
  actual: number,
): { first: number } | { before: Appended } => {
  const next = actual + 1
  const [id = ''] = ids
  const first = expected === 'any' ? (reader.find(stream, id) ?? next) : expected + 1
  if (first === next) return { first }
  const before = first < next ? storedBefore(reader, stream, first, ids) : undefined
  if (!before) throw new RevisionConflict(stream, expected, actual)
  return { before }
}
