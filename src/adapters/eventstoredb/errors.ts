import {
  type AppendExpectedRevision,
  CancelledError,
  convertToCommandError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  NO_STREAM,
  NotLeaderError,
  TimeoutError,
  UnavailableError,
  UnknownError,
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

const lostConnection = [UnavailableError, CancelledError, NotLeaderError]

const late = [DeadlineExceededError, TimeoutError]

/** The client has no error of its own for a server that cannot write just now. */
const isUnrecognized = (error: unknown): error is UnknownError =>
  error instanceof UnknownError && error.message.startsWith('Could not recognize')

/** The server has no leader to write to: another may know one. */
export const isLeaderless = (error: unknown): boolean =>
  error instanceof NotLeaderError || (isUnrecognized(error) && !error.message.includes('Too Busy'))

/** HTTP/2 ended the connection under a call. The client has no error of its own for it. */
const isReset = (error: unknown): boolean =>
  error instanceof UnknownError && error.message.includes('RST_STREAM')

/**
 * Whether the connection was lost. The client has errors for that, but when it is connecting that
 * fails, plain ones of gRPC and of its own come through.
 */
export const isCutOff = (error: unknown): boolean =>
  lostConnection.some((kind) => error instanceof kind) ||
  isReset(error) ||
  (error instanceof Error && error.constructor === Error)

/** Whether the server could not be reached, or did not answer in time, rather than refuse. */
export const isOutage = (error: unknown): boolean =>
  isCutOff(error) || late.some((kind) => error instanceof kind) || isUnrecognized(error)

/** The server reads $all only from positions of events. */
export const isNoPosition = (error: unknown): boolean =>
  error instanceof UnknownError && error.message.includes('ReadAllResult')

/** An error of gRPC as one of the client's kinds; any other as it is. */
export const clientError = (error: Error): Error => convertToCommandError(error)

const inPort = (revision: AppendExpectedRevision): ExpectedRevision => {
  if (revision === NO_STREAM) return START
  return typeof revision === 'bigint' ? Number(revision) : 'any'
}

const portErrors = [StoreUnavailable, StoreDamaged, AppendTooLarge]

/**
 * What went wrong, in the port's words. The client's error stays with it as `cause`.
 * @param stream the port's name of the stream that was written
 */
export const portError = (error: unknown, stream?: string): Error => {
  if (portErrors.some((kind) => error instanceof kind)) return error as Error
  if (error instanceof WrongExpectedVersionError) {
    const { streamName, expectedVersion, actualVersion } = error
    const actual = Number(inPort(actualVersion))
    return new RevisionConflict(stream ?? streamName, inPort(expectedVersion), actual)
  }
  if (error instanceof MaxAppendSizeExceededError)
    return new AppendTooLarge(`one append takes ${error.maxAppendSize} bytes at most`)
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new StoreUnavailable(`EventStoreDB: ${reason}`, { cause: error })
}
