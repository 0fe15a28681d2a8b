import {
  type AllStreamResolvedEvent,
  type EventData,
  excludeSystemEvents,
  jsonEvent,
  type Position,
  type ReadPosition,
  type ResolvedEvent,
  START as startOfAll,
} from '@eventstore/db-client'
import type { Metadata } from '../../domain/event.ts'
import {
  AppendTooLarge,
  MAX_APPEND_BYTES,
  type NewEvent,
  type RecordedEvent,
  StoreDamaged,
} from '../../ports/event-store.ts'

type Resolved = AllStreamResolvedEvent | ResolvedEvent

/** EventStoreDB's own events live in $all too; by its convention their types begin with `$`. */
export const isSystem = ({ event }: Resolved): boolean => !event || event.type.startsWith('$')

/** The same on the server's side, for subscriptions; a read of $all takes no filter. */
export const withoutSystem = excludeSystemEvents()

/**
 * Where an event stands in $all, as one number. Through gRPC the commit position of every event is
 * its own; only explicit transactions of the old TCP interface have events that share one.
 * @throws StoreDamaged for such an event.
 */
export const positionOf = ({ commit, prepare }: Position): number => {
  const position = Number(commit)
  if (commit !== prepare || !Number.isSafeInteger(position))
    throw new StoreDamaged(`C:${commit}/P:${prepare} in $all is not a position of one event`)
  return position
}

/** A position as the client wants it. Subscriptions go on after it, reads begin with it. */
export const fromPosition = (position: number): ReadPosition =>
  position < 0 ? startOfAll : { commit: BigInt(position), prepare: BigInt(position) }

/** @throws StoreDamaged when the server tells no position (before 22.6) or one of a transaction. */
export const recorded = ({ event }: Resolved): RecordedEvent => {
  if (!event?.position) throw new StoreDamaged('an event came without its position in $all')
  const { id, type, data, streamId, revision, position } = event
  return {
    id,
    type,
    data,
    metadata: event.metadata as Metadata,
    stream: streamId,
    revision: Number(revision),
    position: positionOf(position),
  }
}

/** What counts towards the limit on one append. */
const sizeOf = ({ type, data, metadata }: NewEvent): number =>
  2 * type.length +
  Buffer.byteLength(JSON.stringify(data)) +
  Buffer.byteLength(JSON.stringify(metadata))

/**
 * The events as the client sends them. What cannot be sent is refused here: a client that fails to
 * serialize never settles, and a message over the server's limit ends the stream that all appends
 * under way share.
 * @throws TypeError when there is no event, or one that JSON has no form for; AppendTooLarge
 */
export const sendable = (stream: string, events: readonly NewEvent[]): EventData[] => {
  if (events.length === 0) throw new TypeError(`nothing to append to ${stream}`)
  const size = events.reduce((sum, event) => sum + sizeOf(event), 0)
  if (size > MAX_APPEND_BYTES) throw new AppendTooLarge(`${size} bytes in one append to ${stream}`)
  return events.map(({ id, type, data, metadata }) =>
    jsonEvent({ id, type, data: data as Record<string, unknown>, metadata }),
  )
}
