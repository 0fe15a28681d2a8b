import {
  type AppendExpectedRevision,
  CancelledError,
  MaxAppendSizeExceededError,
  NO_STREAM,
  NotLeaderError,
  UnavailableError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  AppendTooLarge,
  type ExpectedRevision,
  RevisionConflict,
  START,
  StoreDamaged,
  StoreUnavailable,
} from '../../ports/event-store.ts'

const gone = [UnavailableError, CancelledError, NotLeaderError]

/**
 * Whether the connection was lost rather than the request refused. The client has errors for that,
 * but when it is connecting that fails, gRPC's own come through, which are plain.
 */
export const isCutOff = (error: unknown): boolean =>
  gone.some((kind) => error instanceof kind) ||
  (error instanceof Error && error.constructor === Error)

const inPort = (revision: AppendExpectedRevision): ExpectedRevision => {
  if (revision === NO_STREAM) return START
  return typeof revision === 'bigint' ? Number(revision) : 'any'
}

/** What went wrong, in the port's words. The client's error stays with it as `cause`. */
export const portError = (error: unknown): Error => {
  if (error instanceof StoreUnavailable || error instanceof StoreDamaged) return error
  if (error instanceof WrongExpectedVersionError) {
    const { streamName, expectedVersion, actualVersion } = error
    return new RevisionConflict(streamName, inPort(expectedVersion), Number(inPort(actualVersion)))
  }
  if (error instanceof MaxAppendSizeExceededError)
    return new AppendTooLarge(`one append takes ${error.maxAppendSize} bytes at most`)
  const said = error instanceof Error ? error.message || error.name : String(error)
  return new StoreUnavailable(`EventStoreDB: ${said}`, { cause: error })
}
