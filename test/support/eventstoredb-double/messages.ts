import { createRequire } from 'node:module'
import code from '@eventstore/db-client/generated/code_pb.js'
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { Status } from '@eventstore/db-client/generated/status_pb.js'
import status from '@eventstore/db-client/generated/status_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { type Expected, maxAppendSize, type Outcome, type Stored } from './log.ts'

// Google's own messages, from where the client's stubs get them.
const clientRequire = createRequire(import.meta.resolve('@eventstore/db-client'))
const { Any } = clientRequire('google-protobuf/google/protobuf/any_pb.js')
const { Empty } = clientRequire('google-protobuf/google/protobuf/empty_pb.js')

const identifier = (stream: string) =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream))

const { ReadEvent, SubscriptionConfirmation, Checkpoint, CaughtUp, StreamNotFound } =
  streams.ReadResp

export const eventMessage = (stored: Stored): ReadResp => {
  const position = String(stored.position)
  const event = new ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(stored.id))
    .setStreamIdentifier(identifier(stored.stream))
    .setStreamRevision(String(stored.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(stored.data)
    .setCustomMetadata(stored.metadata)
  event
    .getMetadataMap()
    .set('type', stored.type)
    .set('content-type', stored.contentType)
    .set('created', '17672256000000000')
  return new streams.ReadResp().setEvent(
    new ReadEvent().setEvent(event).setCommitPosition(position),
  )
}

export const confirmationMessage = (id: string): ReadResp =>
  new streams.ReadResp().setConfirmation(new SubscriptionConfirmation().setSubscriptionId(id))

export const checkpointMessage = (position: bigint): ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  )

export const caughtUpMessage = (): ReadResp => new streams.ReadResp().setCaughtUp(new CaughtUp())

export const notFoundMessage = (stream: string): ReadResp =>
  new streams.ReadResp().setStreamNotFound(
    new StreamNotFound().setStreamIdentifier(identifier(stream)),
  )

const wrongVersion = (expected: Expected, current: number) => {
  const details = new shared.WrongExpectedVersion()
  if (current === -1) details.setCurrentNoStream(new Empty())
  else details.setCurrentStreamRevision(String(current))
  if (expected === 'any') return details.setExpectedAny(new Empty())
  if (expected === 'no_stream') return details.setExpectedNoStream(new Empty())
  if (expected === 'stream_exists') return details.setExpectedStreamExists(new Empty())
  return details.setExpectedStreamPosition(String(expected))
}

const refusal = (details: { serializeBinary(): Uint8Array }, name: string): Status => {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${name}`)
  return new status.Status()
    .setCode(code.Code.FAILED_PRECONDITION)
    .setMessage(name)
    .setDetails(packed)
}

/** A refusal whose details the client does not know. */
const notReady = (): Status => {
  const packed = new Any()
  packed.pack(new Empty().serializeBinary(), 'google.protobuf.Empty')
  return new status.Status()
    .setCode(code.Code.UNAVAILABLE)
    .setMessage('Server Is Not Ready')
    .setDetails(packed)
}

/** What a server says to an append, or that it gave up waiting, or that it has no leader. */
export type Answer =
  | Exclude<Outcome, { kind: 'dropped' }>
  | { kind: 'timeout' }
  | { kind: 'not ready' }

/** The answer to one append of the many that share a BatchAppend call. */
export const answerMessage = (
  correlation: UUID | undefined,
  stream: string,
  expected: Expected,
  outcome: Answer,
) => {
  const answer = new streams.BatchAppendResp()
    .setCorrelationId(correlation)
    .setStreamIdentifier(identifier(stream))
  if (outcome.kind === 'timeout') return answer.setError(refusal(new shared.Timeout(), 'Timeout'))
  if (outcome.kind === 'not ready') return answer.setError(notReady())
  if (outcome.kind === 'conflict')
    return answer.setError(refusal(wrongVersion(expected, outcome.current), 'WrongExpectedVersion'))
  if (outcome.kind === 'too large') {
    const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize)
    return answer.setError(refusal(details, 'MaximumAppendSizeExceeded'))
  }
  const position = new shared.AllStreamPosition()
    .setCommitPosition(String(outcome.position))
    .setPreparePosition(String(outcome.position))
  return answer.setSuccess(
    new streams.BatchAppendResp.Success()
      .setCurrentRevision(String(outcome.revision))
      .setPosition(position),
  )
}
