import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import {
  AppendTooLarge,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  type NewEvent,
  START,
} from '../../ports/event-store.ts'

const { BatchAppendReq } = streams
const { Options, ProposedMessage } = BatchAppendReq

/** One append as a message, which is sent again under another correlation id if need be. */
export type AppendRequest = {
  /** The name of the stream on the server. */
  stream: string
  message(correlationId: string): InstanceType<typeof BatchAppendReq>
}

const uuid = (id: string) => new shared.UUID().setString(id)

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

const proposed = ({ id, type, data, metadata }: NewEvent) => {
  // JSON has no form for undefined, and no event is without data.
  if (data === undefined) throw new TypeError(`${type} has no data`)
  const message = new ProposedMessage()
    .setId(uuid(id))
    .setData(bytesOf(data))
    .setCustomMetadata(bytesOf(metadata))
  message.getMetadataMap().set('type', type).set('content-type', 'application/json')
  return message
}

/** What counts towards the limit on one append. */
const sizeOf = (message: ReturnType<typeof proposed>, { type }: NewEvent): number =>
  2 * type.length + message.getData_asU8().length + message.getCustomMetadata_asU8().length

const optionsOf = (stream: string, expected: ExpectedRevision) => {
  const options = new Options().setStreamIdentifier(
    new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(stream)),
  )
  if (expected === 'any') return options.setAny(new shared.Empty())
  if (expected === START) return options.setNoStream(new shared.Empty())
  return options.setStreamPosition(String(expected))
}

/**
 * An append, made ready. What the server would refuse is refused here: a message over its limit
 * ends the call that all appends under way share. Without a deadline, which would be a wall time: a
 * server ahead of this clock would refuse all. Its own time-out for writes holds.
 * @throws TypeError when there is no event, or one that JSON has no form for; AppendTooLarge
 */
export const appendRequest = (
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): AppendRequest => {
  if (events.length === 0) throw new TypeError(`nothing to append to ${stream}`)
  const messages = events.map(proposed)
  const size = messages.reduce((sum, message, n) => {
    const event = events[n]
    return event ? sum + sizeOf(message, event) : sum
  }, 0)
  if (size > MAX_APPEND_BYTES) throw new AppendTooLarge(`${size} bytes in one append to ${stream}`)
  return {
    stream,
    message: (correlationId) =>
      new BatchAppendReq()
        .setCorrelationId(uuid(correlationId))
        .setOptions(optionsOf(stream, expected))
        .setProposedMessagesList(messages)
        .setIsFinal(true),
  }
}
