import { createHash } from 'node:crypto'
import type { Key } from 'lmdb'
import type { Document, Find, Index, Scalar } from '../../ports/views.ts'
import { idOfTurned } from './index-key.ts'
import { lastPartOf } from './stored-key.ts'

/**
 * Keys in one order: null, false, true, numbers, strings by code point; at most 1,978 bytes. A
 * document is at `[keyspace, id]` (id: the part after the organization first), an index entry at
 * `[keyspace, ...equals, orderBy, id]`, a count at `[keyspace, ...equals]`.
 */
export type Part = Scalar | Uint8Array

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

/** `turned`: the id as keys have it. */
export const documentKey = (keyspace: number, turned: string): Key => viewKeyOf(keyspace, turned)

/** The id of the document at a key. */
export const documentIdOf = (key: Key): string => idOfTurned(lastPartOf(key))

/** Reads a field: undefined where there is none, or it is not a scalar. */
const fieldAt = (path: string): ((document: Document) => Scalar | undefined) => {
  const [first = '', ...rest] = path.split('.')
  return (document) => {
    let value = document[first]
    for (const name of rest) {
      if (typeof value !== 'object' || value === null) return undefined
      value = Reflect.get(value, name)
    }
    if (value === null) return value
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : undefined
  }
}

/**
 * The values of `equals` as keys hold them: the last, most specific one first. Ids begin with their
 * time, so new entries are neighbours, whatever organization they belong to.
 */
const groupOf = <Value>(equals: readonly Value[]): readonly Value[] => equals.toReversed()

/** The key of how many documents have these values. */
export const countKey = (keyspace: number, equals: readonly Scalar[]): Key =>
  viewKeyOf(keyspace, ...groupOf(equals).map(part))

/** Where an index has documents. */
export const placesIn = ({ equals, orderBy }: Index) => {
  const fields = groupOf(equals).map(fieldAt)
  const order = orderBy === undefined ? undefined : fieldAt(orderBy)

  const isSameGroup = (before: Document, after: Document): boolean => {
    for (const field of fields) if (field(before) !== field(after)) return false
    return true
  }

  return {
    /** The key of a document's entry; undefined if an `equals` field is missing or no scalar. */
    entry(keyspace: number, document: Document, id: string): Part[] | undefined {
      const key: Part[] = [keyspace]
      for (const field of fields) {
        const value = field(document)
        if (value === undefined) return undefined
        key.push(part(value))
      }
      if (order) key.push(part(order(document) ?? null))
      key.push(id)
      return key
    },
    /** Whether a change of a document leaves its entry alone. */
    isSame: (before: Document, after: Document): boolean =>
      isSameGroup(before, after) && (!order || order(before) === order(after)),
    isSameGroup,
    /** The key of how many documents have the values that an entry begins with. */
    count(keyspace: number, entry: readonly Part[]): Part[] {
      const key = entry.slice(0, fields.length + 1)
      key[0] = keyspace
      return key
    },
  }
}

/** Half-open: start <= key < end. */
export type Range = { start: Key; end: Key }

export const wholeKeyspace = (keyspace: number): Range => ({
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
