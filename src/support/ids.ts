import { randomUUID } from 'node:crypto'
import { v5 as uuidOf } from 'uuid'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'

const namespace = '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'

const timeIds = () => {
  let time = 0
  let head = ''
  return (): string => {
    const now = Date.now()
    if (now !== time) {
      time = now
      const hex = now.toString(16).padStart(12, '0')
      head = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
    }
    return head + randomUUID().slice(head.length)
  }
}

/** A new UUIDv7. Its random part comes from node's store of randomness: nothing is drawn for one. */
export const newId = timeIds()

/**
 * The id of something new that a call makes. A call that may come twice gets the same id again
 * (UUIDv5 of its scope), so that the second run completes what the first left unfinished.
 */
export const idFor = (clock: Clock, { scope }: Call, what: string): string =>
  scope ? uuidOf(`${scope}/${what}`, namespace) : clock.id()

/** A name for one place in a DataStore, whatever characters the file's own name has. */
export const fileKey = (datastoreId: string, filename: string): string =>
  uuidOf(`${datastoreId}/${filename}`, namespace)
