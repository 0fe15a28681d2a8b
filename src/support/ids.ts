import { randomFillSync } from 'node:crypto'
import { v5 as uuidOf } from 'uuid'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'

/** Characters of the longest id of ours; clients may send longer texts in its place. */
export const longestId = 64

const namespace = '0d9c3b55-6f0e-4a55-9b43-6a3f1a0c7e21'

/** How many random bytes an id has. */
const bytesOfId = 10

/** Random bytes, drawn in blocks: a draw for every id would cost eight times the id. */
const randomBlocks = () => {
  const block = Buffer.alloc(512 * bytesOfId)
  let used = block.length
  return {
    block,
    /** Where the bytes of the next id begin. */
    next(): number {
      if (used === block.length) {
        randomFillSync(block)
        used = 0
      }
      used += bytesOfId
      return used - bytesOfId
    },
  }
}

const digits = Buffer.from('0123456789abcdef')
const hyphens = [8, 13, 18, 23]
/** Where each of the 32 digits stands in the text of an id. */
const places = Array.from({ length: 36 }, (_, at) => at).filter((at) => !hyphens.includes(at))

/**
 * Makes UUIDv7s, each greater than the one before: within a millisecond, and while the clock is
 * behind where it was, they count up from a random start. Written digit by digit into one buffer:
 * a turn makes some twenty.
 */
export const timeOrderedIds = (now: () => number = Date.now): (() => string) => {
  const { block, next } = randomBlocks()
  const text = Buffer.from('00000000-0000-7000-8000-000000000000')
  let msecs = 0
  let seq = 0

  /** Writes the lowest digits of a number, the last of them at a place. */
  const write = (value: number, last: number, count: number): void => {
    let rest = value
    for (let n = last; n > last - count; n--) {
      text[places[n] ?? 0] = digits[rest & 15] ?? 0
      rest >>>= 4
    }
  }

  const setTime = (time: number): void => {
    msecs = time
    write(Math.floor(time / 0x1000000), 5, 6)
    write(time % 0x1000000, 11, 6)
  }

  return () => {
    const random = next()
    const time = now()
    if (time > msecs) {
      setTime(time)
      // Below 2^31, so that half of the counter is left to count with.
      seq = block.readUInt32BE(random) >>> 1
    } else if (seq < 0xffffffff) seq++
    else {
      setTime(msecs + 1)
      seq = 0
    }
    write(seq >>> 20, 15, 3)
    write(0x8000 | ((seq >>> 6) & 0x3fff), 19, 4)
    write(((seq & 0x3f) << 2) | (block.readUInt8(random + 4) & 3), 21, 2)
    for (let n = 0; n < 5; n++) write(block.readUInt8(random + 5 + n), 23 + 2 * n, 2)
    return text.toString('latin1')
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
