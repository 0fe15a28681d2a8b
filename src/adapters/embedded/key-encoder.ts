import type { Key } from 'lmdb'
import { writeKey } from 'ordered-binary'
import { readPosition, readStored } from './stored-key.ts'

const longestKey = 8_192
/** Shorter strings escape characters that the encoding uses itself. */
const escapedBelow = 64
/** At least four zeros follow a key, up to the end of a word: lmdb compares keys by words. */
const zeros = 8
/** Longer keys are refused by lmdb. */
const longestStored = 1_978

/** Only this module writes to it, so V8 knows its form: else a byte costs ten times as much. */
const scratch = Buffer.from(new ArrayBuffer(longestKey))
const view = new DataView(scratch.buffer)
const scratchWords = new Uint32Array(scratch.buffer)

type Part = Parameters<typeof writeKey>[0]

/** -1 for what is not plain ASCII. */
const writeText = (text: string, at: number): number => {
  const { length } = text
  if (length === 0 || at + length > longestKey - zeros) return -1
  const first = length < escapedBelow ? 5 : 0
  if (text.charCodeAt(0) < 28) return -1
  for (let n = 0; n < length; n++) {
    const code = text.charCodeAt(n)
    if (code < first || code > 0x7f) return -1
    scratch[at + n] = code
  }
  return at + length
}

/** A positive number among others: 9 bytes. */
const writeNumber = (value: number, at: number): number => {
  view.setFloat64(at, value)
  const high = view.getInt32(at)
  const low = view.getInt32(at + 4)
  view.setInt32(at, (high >>> 4) | 0x1000_0000)
  view.setInt32(at + 4, (low >>> 4) | (high << 28))
  scratch[at + 8] = (low & 0xf) << 4
  return at + 9
}

const writePart = (part: Part, at: number): number => {
  if (typeof part === 'string') {
    const end = writeText(part, at)
    if (end >= 0) return end
  } else if (typeof part === 'number' && part >= 0 && at + 9 <= longestKey - zeros)
    return writeNumber(part, at)
  return writeKey(part, scratch, at, true)
}

const write = (key: Key): number => {
  if (typeof key === 'string') {
    const end = writeText(key, 0)
    if (end >= 0) return end
  }
  if (!Array.isArray(key)) return writeKey(key as Part, scratch, 0)
  let at = 0
  for (let n = 0; n < key.length; n++) {
    if (n > 0) scratch[at++] = 0
    at = writePart(key[n] as Part, at)
  }
  return at
}

/** The first bytes of a buffer are a key. */
type Encoded = { readonly bytes: Buffer; readonly length: number }

const result = { bytes: scratch, length: 0 }

/** A key as bytes, as `ordered-binary` writes it. They hold until the next call. */
export const encoded = (key: Key): Encoded => {
  const length = write(key)
  if (length <= longestKey - zeros) {
    view.setInt32(length, 0)
    view.setInt32(length + 4, 0)
  }
  result.length = length
  return result
}

/** The position of a record as a value. @throws UnreadableKey */
export const storedPosition = {
  encode(position: number): Buffer {
    const { bytes, length } = encoded(position)
    return Buffer.from(bytes.subarray(0, length))
  },
  decode: (bytes: Buffer, { end = bytes.length } = {}) => readPosition(bytes, 0, end),
}

/** lmdb keeps its buffers of keys as words too. */
type KeyBuffer = Buffer & { uint32?: Uint32Array }

/** For lmdb: the same bytes as its own encoder writes, in less time. */
export const keyEncoder = {
  writeKey(key: Key, target: KeyBuffer, at: number): number {
    const { length } = encoded(key)
    const words = target.uint32
    if (words && at % 4 === 0 && length <= longestStored) {
      const to = at >> 2
      const count = (length + 7) >> 2
      for (let n = 0; n < count; n++) words[to + n] = scratchWords[n] as number
    } else {
      target.set(scratch.subarray(0, length), at)
      target.fill(0, at + length, at + length + 4)
    }
    return at + length
  },
  readKey: readStored,
  /** lmdb then compares keys by words; the zeros are always written. */
  enableNullTermination: (): void => undefined,
}

/** The same for keys that are positions. */
export const positionEncoder = { ...keyEncoder, readKey: readPosition }
