import type { Document, Find, FindResult, Scalar } from '../../ports/views.ts'
import { declaredIndex } from '../declared-index.ts'
import { sizeOf } from '../storable.ts'
import { mergedKeys, type Page } from './merged-keys.ts'
import { lastPartOf } from './stored-key.ts'
import type { ViewsBuffer } from './views-buffer.ts'
import type { StoredIndex } from './views-catalog.ts'
import type { ViewsDatabase } from './views-database.ts'
import { countKey, documentIdOf, type Range, rangeOf, wholeKeyspace } from './views-keys.ts'
import type { Table } from './views-writing.ts'

const pageSize = 500

/** The values of each group of documents that a query is about. */
const groupsOf = ({ equals, orLast = [] }: Find): readonly (readonly Scalar[])[] => {
  if (equals.length === 0 || orLast.length === 0) return [equals]
  const lasts = new Set([...equals.slice(-1), ...orLast])
  return [...lasts].map((last) => equals.with(-1, last))
}

/**
 * Reads by index. Changes of a table are to be written before, as only then its indexes have them.
 */
export const viewsReader = (
  db: ViewsDatabase,
  { found: documentOf }: Pick<ViewsBuffer, 'found'>,
) => {
  /** How many documents of a group a query finds. */
  const countOf = (
    { counts, totals }: StoredIndex,
    { from, below }: Find,
    group: readonly Scalar[],
    { start, end }: Range,
  ): number =>
    from === undefined && below === undefined && totals !== false
      ? ((db.get(countKey(counts, group)) as number | undefined) ?? 0)
      : db.getKeysCount({ start, end })

  function* idsIn(ranges: readonly Range[], page: Page): Iterable<string> {
    const { descending: reverse, skip: offset, limit } = page
    const way = ({ start, end }: Range) =>
      reverse ? { start: end, end: start, reverse } : { start, end, reverse }
    const [only, ...others] = ranges
    if (only && others.length === 0) {
      yield* db.getLastParts({ offset, limit, ...way(only) })
      return
    }
    const ordered = ranges.map((range) => db.getKeys(way(range)))
    for (const key of mergedKeys(ordered, page)) yield lastPartOf(key)
  }

  return {
    find(table: Table, query: Find): FindResult<Document> {
      const { index: name, equals, descending = false, skip = 0, limit } = query
      const index = declaredIndex(table.indexes, name, equals)
      const ranges: Range[] = []
      let total = query.total ?? 0
      for (const group of groupsOf(query)) {
        const range = rangeOf(index.entries, { ...query, equals: group })
        const count = query.total ?? countOf(index, query, group, range)
        if (query.total === undefined) total += count
        if (count > 0) ranges.push(range)
      }
      const items: Document[] = []
      // To skip more than there is would go through what others have stored.
      if (limit === 0 || skip >= total) return { items, total }
      const page = { shared: 1 + equals.length, descending, skip, limit }
      let room = query.bytes ?? Infinity
      for (const id of idsIn(ranges, page)) {
        if (room <= 0) return { items, total, cut: true }
        const document = documentOf(table, id)
        if (!document) continue
        items.push(document)
        if (room < Infinity) room -= sizeOf(document)
      }
      return { items, total }
    },

    idsOf(table: Table, name: string, equals: readonly Scalar[]): string[] {
      const { entries } = declaredIndex(table.indexes, name, equals)
      return [...db.getLastParts(rangeOf(entries, { equals }))]
    },

    /**
     * As of its first batch, whatever is committed meanwhile; ends its transaction with its reader.
     */
    async *all(table: Table): AsyncGenerator<{ id: string; document: Document }[]> {
      const transaction = db.useReadTransaction()
      try {
        for (let { start, end } = wholeKeyspace(table.documents); ; ) {
          const page = [...db.getRange({ start, end, limit: pageSize + 1, transaction })]
          const batch = page.slice(0, pageSize)
          if (batch.length > 0)
            yield batch.map(({ key, value }) => ({
              id: documentIdOf(key),
              document: value as Document,
            }))
          const next = page[pageSize]
          if (!next) return
          start = next.key
        }
      } finally {
        transaction.done()
      }
    },
  }
}
