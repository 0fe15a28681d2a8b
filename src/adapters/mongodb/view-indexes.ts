import type { Collection, Filter, Sort } from 'mongodb'
import type { Find, Index, Scalar, ViewSpec } from '../../ports/views.ts'
import { storedPath } from './documents.ts'

/**
 * A stored document: its own fields, and the position it was folded up to. A removed document
 * leaves a mark for some time, so that a late writer does not bring it back.
 */
export type StoredDocument = {
  _id: string
  _position: number
  _live?: true
  _removed?: Date
}

const prefix = 'reprise:'
/** The index by which the marks of removed documents are found. */
const removed = { _removed: 1 } as const

/** An index without `equals` has all documents but the removed ones. */
const equalsOf = ({ equals }: Index) => (equals.length > 0 ? equals.map(storedPath) : ['_live'])

const indexKeysOf = (index: Index): Record<string, 1> => {
  const order = index.orderBy === undefined ? [] : [storedPath(index.orderBy)]
  return Object.fromEntries([...equalsOf(index), ...order, '_id'].map((path) => [path, 1]))
}

const nameOf = (key: object) => `${prefix}${Object.keys(key).join(',')}`

/** Creates the declared indexes and drops those no longer declared; indexes of others stay. */
export const ensureIndexes = async (
  collection: Collection<StoredDocument>,
  { indexes }: ViewSpec,
): Promise<void> => {
  const keys = Object.values(indexes).map(indexKeysOf)
  const wanted = new Map(keys.map((key) => [nameOf(key), key]))
  await collection.createIndex(removed, { name: nameOf(removed), sparse: true })
  for (const [name, key] of wanted) await collection.createIndex(key, { name })
  for (const { name = '' } of await collection.indexes())
    if (name.startsWith(prefix) && name !== nameOf(removed) && !wanted.has(name))
      await collection.dropIndex(name)
}

/** For MongoDB a missing field equals null; for us only null does. */
const equal = (value: Scalar | undefined, others: readonly Scalar[] = []) => {
  const is = others.length === 0 ? { $eq: value } : { $in: [value, ...others] }
  return value === null || others.includes(null) ? { ...is, $exists: true } : is
}

export const filterOf = (
  index: Index,
  { equals, orLast, from, below }: Pick<Find, 'equals' | 'orLast' | 'from' | 'below'>,
): Filter<StoredDocument> => {
  const all = equals.length > 0 ? equals : [true]
  const last = equals.length - 1
  const filter = Object.fromEntries(
    equalsOf(index).map((path, n) => [path, equal(all[n], n === last ? orLast : [])]),
  )
  if (from === undefined && below === undefined) return filter
  const order = index.orderBy === undefined ? '_id' : storedPath(index.orderBy)
  const range = {
    ...(from !== undefined && { $gte: from }),
    ...(below !== undefined && { $lt: below }),
  }
  return { ...filter, [order]: { ...filter[order], ...range } }
}

export const sortOf = ({ orderBy }: Index, descending = false): Sort => {
  const direction = descending ? -1 : 1
  return orderBy === undefined
    ? { _id: direction }
    : { [storedPath(orderBy)]: direction, _id: direction }
}
