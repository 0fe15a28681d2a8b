import type { Document, DocumentChange, Find, FindResult, ViewSpec } from '../../src/ports/views.ts'

const at = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => {
    const fields = new Map(typeof value === 'object' && value ? Object.entries(value) : [])
    return fields.get(key)
  }, document)

const types = ['object', 'boolean', 'number', 'string']

/** null, booleans, numbers, strings by code point; a missing value counts as null. */
const compare = (a: unknown, b: unknown): number => {
  const [left, right] = [a ?? null, b ?? null]
  const byType = types.indexOf(typeof left) - types.indexOf(typeof right)
  if (byType !== 0) return byType
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)))
}

/** A read model as a list with linear search: the reference for the views. */
export const model = ({ indexes }: ViewSpec) => {
  const documents = new Map<string, Document>()
  return {
    commit(changes: readonly DocumentChange[]) {
      for (const { id, document } of changes)
        if (document) documents.set(id, document)
        else documents.delete(id)
    },
    find(query: Find): FindResult<Document> {
      const { index, equals, orLast = [], from, below, descending, skip = 0, limit } = query
      const { equals: paths = [], orderBy = '' } = indexes[index] ?? {}
      const within = (value: unknown) =>
        (from === undefined || (typeof value === typeof from && compare(value, from) >= 0)) &&
        (below === undefined || (typeof value === typeof below && compare(value, below) < 0))
      const values: readonly unknown[][] = equals.map((value, n) =>
        n === equals.length - 1 ? [value, ...orLast] : [value],
      )
      const matching = [...documents]
        .filter(([, document]) => paths.every((path, n) => values[n]?.includes(at(document, path))))
        .filter(([, document]) => within(at(document, orderBy)))
        .toSorted(
          ([idA, a], [idB, b]) => compare(at(a, orderBy), at(b, orderBy)) || compare(idA, idB),
        )
        .map(([, document]) => document)
      if (descending) matching.reverse()
      return { items: matching.slice(skip, skip + limit), total: query.total ?? matching.length }
    },
    everything: (): Record<string, Document> =>
      Object.fromEntries([...documents].toSorted(([a], [b]) => compare(a, b))),
  }
}
