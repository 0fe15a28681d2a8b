import { hash } from 'node:crypto'
import { plain, quoted } from './canonical-json.ts'
import { leafOf, mostLeafBytes, type Stored } from './leaf.ts'
import { type HashText, leafHashText } from './merkle.ts'

/** Metadata is kept behind the leaf, as the next event of the same append has it too. */
const keptAt = 1 + mostLeafBytes
const keptBytes = 8_192
const bytes = Buffer.from(new ArrayBuffer(keptAt + keptBytes))

/** Longer texts are written faster by node, shorter ones here. */
const longText = 24
const [quote, comma, backslash, first, last] = [0x22, 0x2c, 0x5c, 0x20, 0x7e]
const [opening, closing] = [0x7b, 0x7d]

/** What does not fit, or has no JSON, is written as a text. */
const none = -1

/** Plain ASCII as it is. */
const writeRaw = (text: string, at: number): number => {
  const { length } = text
  if (at === none || at + length > keptAt) return none
  for (let n = 0; n < length; n++) bytes[at + n] = text.charCodeAt(n)
  return at + length
}

const writeEscaped = (text: string, at: number): number => {
  const json = JSON.stringify(text)
  return at + 3 * json.length > keptAt ? none : at + bytes.write(json, at)
}

const writeText = (text: string, at: number): number => {
  const { length } = text
  if (at === none || at + length + 2 > keptAt) return none
  bytes[at] = quote
  bytes[at + 1 + length] = quote
  if (length > longText) {
    if (!plain.test(text)) return writeEscaped(text, at)
    bytes.write(text, at + 1, 'latin1')
    return at + length + 2
  }
  for (let n = 0; n < length; n++) {
    const code = text.charCodeAt(n)
    if (code < first || code > last || code === quote || code === backslash)
      return writeEscaped(text, at)
    bytes[at + 1 + n] = code
  }
  return at + length + 2
}

/** The keys of an object, and what is written before the value of each, in their order in the text. */
type Shape = { keys: readonly string[]; sorted: readonly string[]; begins: readonly string[] }

/** Of most objects the keys are those of the one at the same place in the last such event. So many are kept, and none larger. */
const [mostShapes, mostKeys, longestKeys] = [1_000, 64, 2_048]
let shapes = new Map<string, Shape>()

const isSame = (one: readonly string[], other: readonly string[]): boolean => {
  if (one.length !== other.length) return false
  for (let n = 0; n < one.length; n++) if (one[n] !== other[n]) return false
  return true
}

/** Undefined where there are too many keys, or one is not plain ASCII. */
const shapeOf = (place: string, keys: readonly string[]): Shape | undefined => {
  const known = shapes.get(place)
  if (known && isSame(known.keys, keys)) return known
  if (keys.length > mostKeys) return undefined
  const sorted = keys.toSorted()
  const begins = sorted.map((key, n) => `${n === 0 ? '' : ','}${quoted(key)}:`)
  const text = begins.join('')
  if (text.length > longestKeys || Buffer.byteLength(text) > text.length) return undefined
  const shape = { keys, sorted, begins }
  if (shapes.size >= mostShapes) shapes = new Map()
  shapes.set(place, shape)
  return shape
}

const writeByte = (byte: number, at: number): number => {
  if (at === none || at >= keptAt) return none
  bytes[at] = byte
  return at + 1
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const writeObject = (value: Fields, at: number, place: string): number => {
  const shape = shapeOf(place, Object.keys(value))
  if (!shape) return none
  const { sorted, begins } = shape
  let end = writeByte(opening, at)
  for (let n = 0; n < sorted.length && end !== none; n++) {
    const key = sorted[n] ?? ''
    end = write(value[key], writeRaw(begins[n] ?? '', end), key)
  }
  return writeByte(closing, end)
}

const writeArray = (items: readonly unknown[], at: number, place: string): number => {
  let end = writeRaw('[', at)
  for (let n = 0; n < items.length && end !== none; n++)
    end = write(items[n], n === 0 ? end : writeByte(comma, end), place)
  return writeRaw(']', end)
}

/** `place`: what tells objects apart whose keys are mostly the same. */
const write = (value: unknown, at: number, place: string): number => {
  if (at === none) return none
  if (typeof value === 'string') return writeText(value, at)
  if (typeof value === 'number') return Number.isFinite(value) ? writeRaw(`${value}`, at) : none
  if (typeof value === 'boolean' || value === null) return writeRaw(`${value}`, at)
  if (isObject(value)) return writeObject(value, at, place)
  return Array.isArray(value) ? writeArray(value, at, place) : none
}

let keptOf: unknown
let keptEnd = keptAt

const writeMetadata = (metadata: unknown, at: number): number => {
  if (at === none) return none
  if (metadata === keptOf) {
    const end = at + keptEnd - keptAt
    if (end > keptAt) return none
    bytes.copyWithin(at, keptAt, keptEnd)
    return end
  }
  const end = write(metadata, at, '')
  if (end === none || end - at > keptBytes) return end
  bytes.copyWithin(keptAt, at, end)
  keptOf = metadata
  keptEnd = keptAt + end - at
  return end
}

/** The bytes of the leaf of an event behind a zero byte; where they end. */
const writeLeaf = ({ data, id, metadata, position, revision, stream, type }: Stored): number => {
  let end = write(data, writeRaw('{"data":', 1), type)
  end = writeText(id, writeRaw(',"id":', end))
  end = writeMetadata(metadata, writeRaw(',"metadata":', end))
  end = writeRaw(`,"position":${position},"revision":${revision},"stream":`, end)
  end = writeText(type, writeRaw(',"type":', writeText(stream, end)))
  return writeByte(closing, end)
}

/**
 * The hash of an event's leaf. It is written as bytes at once: as a text of many pieces it takes longer, and is left for the
 * garbage collector. What is too long, or has unusual keys, is written as a text.
 */
export const leafHashOf = (event: Stored): HashText => {
  const end = writeLeaf(event)
  if (end === none) return leafHashText(leafOf(event))
  return hash('sha256', bytes.subarray(0, end), 'binary')
}
