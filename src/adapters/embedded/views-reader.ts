import type { Document, Find, Found, Scalar } from '../../ports/views.ts'
import { declaredIndex } from '../declared-index.ts'
import type { ViewsBuffer } from './views-buffer.ts'
import type { ViewsDatabase } from './views-database.ts'
import { countKey, documentIdOf, groupOf, lastPartOf, rangeOf, whole } from './views-keys.ts'
import type { Table } from './views-writing.ts'

const pageSize = 500

/** Reads by index. Changes of a table are written first, as only then its indexes have them. */
export const viewsReader = (db: ViewsDatabase, { writeTable, stored }: ViewsBuffer) => {
  const indexOf = (table: Table, name: string, equals: readonly Scalar[]) => {
    const index = declaredIndex(table.indexes, name, equals)
    writeTable(table)
    return index
  }

  return {
    find(table: Table, query: Find): Found<Document> {
      const { index: name, equals, from, below, descending = false, skip = 0, limit } = query
      const { entries, counts, totals } = indexOf(table, name, equals)
      const { start, end } = rangeOf(entries, query)
      const [first, last] = descending ? [end, start] : [start, end]
      const total =
        from === undefined && below === undefined && totals !== false
          ? ((db.get(countKey(counts, groupOf(equals))) as number | undefined) ?? 0)
          : db.getKeysCount({ start, end })
      const items: Document[] = []
      // To skip more than there is would go through what others have stored.
      if (limit > 0 && skip < total) {
        const page = { start: first, end: last, reverse: descending, offset: skip, limit }
        for (const key of db.getKeys(page)) {
          const document = stored(table, lastPartOf(key))
          if (document) items.push(document)
        }
      }
      return { items, total }
    },

    idsOf(table: Table, name: string, equals: readonly Scalar[]): string[] {
      const { entries } = indexOf(table, name, equals)
      return [...db.getKeys(rangeOf(entries, { equals }))].map(lastPartOf)
    },

    /**
     * As of its first batch, whatever is committed meanwhile; ends its transaction with its reader.
     */
    async *all(table: Table): AsyncGenerator<{ id: string; document: Document }[]> {
      writeTable(table)
      const transaction = db.useReadTransaction()
      try {
        for (let { start, end } = whole(table.documents); ; ) {
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
