import { type Bytes, textOf, toHex, utf8 } from './bytes.ts'
import { malformed } from './failure.ts'
import { type Subtle, sha256 } from './web-crypto.ts'

/** An event as the API lists it, with its texts decrypted. */
export type ListedEvent = {
  position: number
  id: string
  stream: string
  revision: number
  type: string
  data?: unknown
  metadata: unknown
}

/** An event as the log stores it, with its texts encrypted, and its exported line. */
export type StoredEvent = {
  line: Bytes
  position: number
  value: Readonly<Record<string, unknown>>
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Deeper JSON is not an event. */
const maxDepth = 256

/** JSON in the form of RFC 8785. @throws RangeError when it is deeper than any event */
export const canonicalJson = (value: unknown, depth = 0): string => {
  if (!isObject(value)) return JSON.stringify(value)
  if (depth > maxDepth) throw new RangeError('too deep')
  const inside = (part: unknown) => canonicalJson(part, depth + 1)
  if (Array.isArray(value)) return `[${value.map(inside).join(',')}]`
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${inside(part)}`).join(',')}}`
}

/** An exported line, which is canonical JSON. @throws VerificationFailed */
export const parseLine = (line: Bytes): StoredEvent => {
  try {
    const text = textOf(line) ?? ''
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || canonicalJson(value) !== text)
      throw malformed('event', 'it is not an object in canonical JSON')
    const record = Object.fromEntries(Object.entries(value))
    const { position } = record
    if (typeof position !== 'number' || !Number.isSafeInteger(position))
      throw malformed('event', 'it has no position')
    return { line, position, value: record }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      throw malformed('event', 'it is not JSON')
    throw error
  }
}

/** In bytes; the leaf of a longer line has the hash of the data instead of the data. */
const maxLeaf = 65_535

/** The bytes that are the event's leaf in the tree. */
export const leafOf = async (subtle: Subtle, { line, value }: StoredEvent): Promise<Bytes> => {
  if (line.length <= maxLeaf) return line
  const $sha256 = toHex(await sha256(subtle, utf8(canonicalJson(value.data))))
  return utf8(canonicalJson({ ...value, data: { $sha256 } }))
}

const isEncrypted = (value: object): boolean =>
  Object.keys(value).sort().join() === '$sealed,box' &&
  Object.values(value).every((part) => typeof part === 'string')

export type Comparison = {
  /** The first field with another value. */
  difference?: string
  /** Fields that the log stores encrypted, so that their texts cannot be compared. */
  encrypted: string[]
}

/** Whether an event is shown as it is stored. Encrypted fields may be shown with any text. */
export const compareEvent = (listed: ListedEvent, { value }: StoredEvent): Comparison => {
  const encrypted: string[] = []

  /** The path of the first difference. */
  const difference = (actual: unknown, stored: unknown, path: string): string | undefined => {
    if (!isObject(stored)) return Object.is(actual, stored) ? undefined : path
    if (/^data\b/.test(path) && isEncrypted(stored)) {
      encrypted.push(path)
      return undefined
    }
    if (!isObject(actual) || Array.isArray(actual) !== Array.isArray(stored)) return path
    const names = new Set([...Object.keys(stored), ...Object.keys(actual)])
    for (const name of names) {
      const inside = path === '' ? name : `${path}.${name}`
      if (!Object.hasOwn(actual, name) || !Object.hasOwn(stored, name)) return inside
      const field = difference(Reflect.get(actual, name), Reflect.get(stored, name), inside)
      if (field !== undefined) return field
    }
    return undefined
  }

  // The API shows metadata that is no object as null.
  const metadata = isObject(value.metadata) ? value.metadata : null
  const field = difference(listed, { ...value, metadata }, '')
  return field === undefined ? { encrypted } : { difference: field, encrypted }
}
