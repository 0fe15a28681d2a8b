import { v5 as uuidOf } from 'uuid'
import type { Call } from './ports/call.ts'
import type { Clock } from './ports/clock.ts'

const namespace = '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'

/**
 * The id of something new that a call makes. A call that may come twice gets the same id again
 * (UUIDv5 of its scope), so that the second run completes what the first left unfinished.
 */
export const idFor = (clock: Clock, { scope }: Call, what: string): string =>
  scope ? uuidOf(`${scope}/${what}`, namespace) : clock.id()

/** A name for one place in a DataStore, whatever characters the file's own name has. */
export const fileKey = (datastoreId: string, filename: string): string =>
  uuidOf(`${datastoreId}/${filename}`, namespace)
