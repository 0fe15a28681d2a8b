import { UnknownError } from '@eventstore/db-client'
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js'
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Appended, StoreDamaged } from '../../ports/event-store.ts'
import { positionOf } from './events.ts'

/** The id of the append that an answer is to. */
export const correlationOf = (answer: BatchAppendResp): string => {
  const id = answer.getCorrelationId()
  return id ? parseUUID(id) : ''
}

const refusalOf = (answer: BatchAppendResp, stream: string): Error => {
  const refusal = answer.getError()
  try {
    if (refusal) return unpackToCommandError(refusal, stream)
  } catch {
    // It has no details.
  }
  return new UnknownError(undefined, `Could not recognize ${refusal?.getMessage()}`)
}

/** @throws what the server refused it with; StoreDamaged when it tells no position. */
export const outcomeOf = (answer: BatchAppendResp, stream: string): Appended => {
  const success = answer.getSuccess()
  if (!success) throw refusalOf(answer, stream)
  const position = success.getPosition()
  if (!position) throw new StoreDamaged('EventStoreDB: an append was answered without a position')
  return {
    revision: Number(success.getCurrentRevision()),
    position: positionOf({
      commit: BigInt(position.getCommitPosition()),
      prepare: BigInt(position.getPreparePosition()),
    }),
  }
}
