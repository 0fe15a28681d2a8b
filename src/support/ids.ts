import { randomFillSync } from 'node:crypto'
import { v5 as uuidOf, v7 } from 'uuid'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'

/** Characters of the longest id of ours; clients may send longer texts in its place. */
export const longestId = 64

const namespace = '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'

/** How many random bytes an id takes. */
const bytesOfId = 16

/** Random bytes, drawn in blocks: a draw for each id would take longer than the id. */
const randomBlocks = () => {
  const block = Buffer.alloc(512 * bytesOfId)
  let used = block.length
  return (): Buffer => {
    if (used === block.length) {
      randomFillSync(block)
      used = 0
    }
    used += bytesOfId
    return block.subarray(used - bytesOfId, used)
  }
}

/**
 * Makes UUIDv7s, each greater than the one before: within a millisecond, and while the clock is
 * behind where it was, they count up from a random start.
 */
export const timeOrderedIds = (now: () => number = Date.now): (() => string) => {
  const next = randomBlocks()
  let msecs = 0
  let seq = 0
  return () => {
    const random = next()
    const time = now()
    if (time > msecs) {
      msecs = time
      // Below 2^31, so that half of the counter is left to count with.
      seq = random.readUInt32BE() >>> 1
    } else if (seq < 0xffffffff) seq++
    else {
      msecs++
      seq = 0
    }
    return v7({ msecs, seq, random })
  }
}

const version7 = /^([\da-f]{8})-([\da-f]{4})-7/

/** When a UUIDv7 was made, in milliseconds since 1970; undefined for other ids. */
export const timeOfId = (id: string): number | undefined => {
  const [, high, low] = version7.exec(id) ?? []
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16)
}

/** A new UUIDv7. The ids of one process are in the order in which they were made. */
export const newId = timeOrderedIds()

const scopedId = (scope: string, what: string): string => uuidOf(`${scope}/${what}`, namespace)

/** The scope of the call that makes the demo organization. */
export const demoScope = 'demo'

/** An id of the demo organization: the same in every installation, so that examples can name it. */
export const demoId = (what: string): string => scopedId(demoScope, what)

/**
 * The id of something new that a call makes. A call that may come twice gets the same id again
 * (UUIDv5 of its scope), so that the second run completes what the first left unfinished.
 */
export const idFor = (clock: Clock, { scope }: Call, what: string): string =>
  scope ? scopedId(scope, what) : clock.id()

/** A name for one place in a DataStore, whatever characters the file's own name has. */
export const fileKey = (datastoreId: string, filename: string): string =>
  uuidOf(`${datastoreId}/${filename}`, namespace)
