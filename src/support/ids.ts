import { randomFillSync } from 'node:crypto'
import { v5 as uuidOf, v7 as uuidv7 } from 'uuid'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'

const namespace = '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'

const idBytes = 16

/** Random bytes for one id each, drawn in blocks: a draw for every id would cost eight times the id. */
const randomBlocks = () => {
  const block = new Uint8Array(512 * idBytes)
  let used = block.length
  return (): Uint8Array => {
    if (used === block.length) {
      randomFillSync(block)
      used = 0
    }
    used += idBytes
    return block.subarray(used - idBytes, used)
  }
}

/**
 * Makes UUIDv7s, each greater than the one before: within a millisecond, and while the clock is
 * behind where it was, they count up from a random start.
 */
export const timeOrderedIds = (now: () => number = Date.now): (() => string) => {
  const draw = randomBlocks()
  let msecs = 0
  let seq = 0
  return () => {
    const random = draw()
    const time = now()
    if (time > msecs) {
      msecs = time
      // Below 2^31, so that half of the counter is left to count with.
      seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1
    } else if (seq < 0xffffffff) seq++
    else {
      msecs++
      seq = 0
    }
    return uuidv7({ msecs, seq, random })
  }
}

/** A new UUIDv7. The ids of one process are in the order in which they were made. */
export const newId = timeOrderedIds()

/**
 * The id of something new that a call makes. A call that may come twice gets the same id again
 * (UUIDv5 of its scope), so that the second run completes what the first left unfinished.
 */
export const idFor = (clock: Clock, { scope }: Call, what: string): string =>
  scope ? uuidOf(`${scope}/${what}`, namespace) : clock.id()

/** A name for one place in a DataStore, whatever characters the file's own name has. */
export const fileKey = (datastoreId: string, filename: string): string =>
  uuidOf(`${datastoreId}/${filename}`, namespace)
