import { createHash } from 'node:crypto'
import type { Key } from 'lmdb'
import type { Document, Find, Index, Scalar } from '../../ports/views.ts'
import { idOfTurned, turnedId } from './index-key.ts'

/**
 * The keys of the views' one ordered database. A document is at `[keyspace, id]`, where the part of its
 * id after the organization comes first, so that new ones are neighbours; an index entry is at
 * `[keyspace, ...equals, orderBy, id]`, a count at `[keyspace, ...equals]`. They sort as null, false,
 * true, numbers, strings by code point; keys have room for 1,978 bytes.
 */
type Part = Scalar | Uint8Array

/** Sorts after every value. */
const end = Buffer.from([255])

const longest = 200
const longestId = 512
/** The key encoding escapes these in strings of fewer than 64 characters only. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\x00-\x05]/g

export const viewKeyOf = (...parts: readonly Part[]): Key => parts as Key

/**
 * A value as part of a key. Long strings differ by all their characters, but are ordered by the
 * first 40.
 */
const part = (value: Scalar): Scalar => {
  if (typeof value === 'number') return value + 0
  if (typeof value !== 'string' || value.length < 64) return value
  if (Buffer.byteLength(value) <= longest && value.search(control) === -1) return value
  const hash = createHash('sha256').update(value).digest('hex')
  return `${value.slice(0, 40).replace(control, ' ')}\x05${hash}`
}

/** @throws TypeError for an id over 512 bytes, or a long one with control characters */
export const assertId = (id: string): void => {
  if (id.length >= 64 && (Buffer.byteLength(id) > longestId || id.search(control) !== -1))
    throw new TypeError(`not fit for a document's id: ${JSON.stringify(id.slice(0, 100))}`)
}

export const documentKey = (keyspace: number, id: string): Key => viewKeyOf(keyspace, turnedId(id))

/** The last part of a key; of an entry's, the id of its document. */
export const lastPartOf = (key: Key): string => String(Array.isArray(key) ? key.at(-1) : key)

/** The id of the document at a key. */
export const documentIdOf = (key: Key): string => idOfTurned(lastPartOf(key))

const scalarAt = (document: Document, path: readonly string[]): Scalar | undefined => {
  let value: unknown = document
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, name)
  }
  if (value === null) return value
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined
}

/** The place of a document in an index: its group, then its `orderBy` value. */
export type IndexPlace = readonly Scalar[]

/**
 * The values of `equals` as keys hold them: the last, most specific one first. Ids begin with their
 * time, so new entries are neighbours, whatever organization they belong to.
 */
export const groupOf = (equals: readonly Scalar[]): IndexPlace => equals.toReversed()

/** Finds a document's place; undefined when an `equals` field is missing or not a scalar. */
export const placer = ({ equals, orderBy }: Index) => {
  const paths = equals.map((path) => path.split('.')).reverse()
  const order = orderBy?.split('.')
  return (document: Document | undefined): IndexPlace | undefined => {
    if (!document) return undefined
    const place: Scalar[] = []
    for (const path of paths) {
      const value = scalarAt(document, path)
      if (value === undefined) return undefined
      place.push(value)
    }
    if (order) place.push(scalarAt(document, order) ?? null)
    return place
  }
}

/** Whether two places have the same first values. */
export const samePlace = (
  a: IndexPlace | undefined,
  b: IndexPlace | undefined,
  length = Math.max(a?.length ?? 0, b?.length ?? 0),
): boolean => {
  if (!a || !b) return a === b
  for (let n = 0; n < length; n++) if (a[n] !== b[n]) return false
  return true
}

/** The key of the first `length` values of a place. */
const placeKey = (keyspace: number, place: IndexPlace, length: number): Part[] => {
  const key: Part[] = [keyspace]
  for (let n = 0; n < length; n++) key.push(part(place[n] ?? null))
  return key
}

export const entryKey = (keyspace: number, place: IndexPlace, id: string): Key => {
  const key = placeKey(keyspace, place, place.length)
  key.push(id)
  return key as Key
}

/** `length`: of the group that a place begins with. */
export const countKey = (keyspace: number, place: IndexPlace, length = place.length): Key =>
  placeKey(keyspace, place, length) as Key

/** Half-open: start <= key < end. */
export type Range = { start: Key; end: Key }

export const whole = (keyspace: number): Range => ({
  start: viewKeyOf(keyspace),
  end: viewKeyOf(keyspace + 1),
})

/** The first possible key of a value's type, and the first key after all of that type. */
const bracket = (value: Scalar): [Part, Part] => {
  if (value === null) return [null, false]
  if (typeof value === 'boolean') return [false, Number.NEGATIVE_INFINITY]
  return typeof value === 'number' ? [Number.NEGATIVE_INFINITY, ''] : ['', end]
}

/**
 * The range of keys of a query. As in MongoDB, a range holds only values of the type of its bounds.
 */
export const rangeOf = (
  keyspace: number,
  { equals, from, below }: Pick<Find, 'equals' | 'from' | 'below'>,
): Range => {
  const values = groupOf(equals).map(part)
  const bound = from === undefined ? below : from
  const [first, behind] = bound === undefined ? [undefined, end] : bracket(bound)
  const low = from === undefined ? first : part(from)
  const high = below === undefined ? behind : part(below)
  return {
    start: viewKeyOf(keyspace, ...values, ...(low === undefined ? [] : [low])),
    end: viewKeyOf(keyspace, ...values, high),
  }
}
