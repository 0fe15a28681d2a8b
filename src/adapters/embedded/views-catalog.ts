import { setImmediate } from 'node:timers/promises'
import type { Key } from 'lmdb'
import type { Position } from '../../domain/event.ts'
import { START } from '../../ports/event-store.ts'
import type { Document, Index, ViewSpec } from '../../ports/views.ts'
import { lastPartOf } from './stored-key.ts'
import type { ViewsDatabase } from './views-database.ts'
import { documentIdOf, type Part, placesIn, viewKeyOf, wholeKeyspace } from './views-keys.ts'

/** An index, and the keyspaces of its entries and of their counts by `equals`. */
export type StoredIndex = Index & { entries: number; counts: number }

/** One generation of a read model: the keyspace of its documents, and its indexes. */
export type StoredTable = {
  documents: number
  indexes: Record<string, StoredIndex>
  /** Absent: 1. */
  version?: number
}

export type StoredView = { live: StoredTable; rebuild?: StoredTable }

const pageSize = 500
/** So many keys are removed in one turn of the event loop: some milliseconds. */
const removedAtOnce = 100

/** The keyspace of the catalog itself; others count from 1. */
const catalog = 0
const nextKey = viewKeyOf(catalog, 'next')
const viewKey = (name: string) => viewKeyOf(catalog, 'view', name)
const dropKey = (keyspace: number) => viewKeyOf(catalog, 'drop', keyspace)
export const checkpointKey = (table: StoredTable) =>
  viewKeyOf(catalog, 'checkpoint', table.documents)

/** Whether an index as it is stored has what is asked of it. */
const serves = (stored: Index, spec: Index) =>
  stored.orderBy === spec.orderBy &&
  JSON.stringify(stored.equals) === JSON.stringify(spec.equals) &&
  (stored.totals !== false || spec.totals === false)

/** The keyspaces of each read model. Every method that changes something is one transaction. */
export const viewsCatalog = (db: ViewsDatabase) => {
  const stored = (name: string) => db.get(viewKey(name)) as StoredView | undefined

  const declared = (name: string): StoredView => {
    const view = stored(name)
    if (!view) throw new TypeError(`no read model is called ${name}`)
    return view
  }

  const keyspace = (): number => {
    const next = (db.get(nextKey) as number | undefined) ?? 1
    db.putSync(nextKey, next + 1)
    return next
  }

  /** Their content is removed bit by bit, after this transaction. */
  const abandon = (table: StoredTable) => {
    const indexes = Object.values(table.indexes)
    const keyspaces = indexes.flatMap(({ entries, counts }) => [entries, counts])
    for (const keyspaceId of [table.documents, ...keyspaces]) db.putSync(dropKey(keyspaceId), true)
    db.removeSync(checkpointKey(table))
  }

  const emptyIndex = ({ equals, orderBy, totals }: Index): StoredIndex => ({
    equals,
    ...(orderBy !== undefined && { orderBy }),
    ...(totals === false && { totals }),
    entries: keyspace(),
    counts: keyspace(),
  })

  const emptyTable = ({ indexes, version = 1 }: ViewSpec): StoredTable => ({
    documents: keyspace(),
    version,
    indexes: Object.fromEntries(
      Object.entries(indexes).map(([name, index]) => [name, emptyIndex(index)]),
    ),
  })

  const fill = (index: StoredIndex, { documents }: StoredTable) => {
    const places = placesIn(index)
    const totals = new Map<string, { key: Part[]; total: number }>()
    for (let { start, end } = wholeKeyspace(documents); ; ) {
      const page = [...db.getRange({ start, end, limit: pageSize + 1 })]
      for (const { key, value } of page.slice(0, pageSize)) {
        const entry = places.entry(index.entries, value as Document, documentIdOf(key))
        if (!entry) continue
        db.putSync(entry as Key, null)
        if (index.totals === false) continue
        const counted = places.count(index.counts, entry)
        const name = JSON.stringify(counted)
        const known = totals.get(name)
        if (known) known.total++
        else totals.set(name, { key: counted, total: 1 })
      }
      const next = page[pageSize]
      if (!next) break
      start = next.key
    }
    for (const { key, total } of totals.values()) db.putSync(key as Key, total)
  }

  /** Fills new and changed indexes from the documents. */
  const adapted = (table: StoredTable, { indexes }: ViewSpec): StoredTable => {
    const reusable = Object.entries(table.indexes).flatMap(
      ([name, old]): [string, StoredIndex][] => {
        const now = indexes[name]
        if (!now || !serves(old, now)) return []
        return [[name, now.totals === false ? { ...old, totals: false } : old]]
      },
    )
    const result = { ...table, indexes: Object.fromEntries(reusable) }
    for (const [name, old] of Object.entries(table.indexes))
      if (!result.indexes[name])
        for (const keyspaceId of [old.entries, old.counts]) db.putSync(dropKey(keyspaceId), true)
    for (const [name, index] of Object.entries(indexes))
      if (!result.indexes[name]) {
        const added = emptyIndex(index)
        fill(added, table)
        result.indexes[name] = added
      }
    return result
  }

  const put = (name: string, view: StoredView): StoredView => {
    db.putSync(viewKey(name), view)
    return view
  }

  return {
    declare: (spec: ViewSpec): StoredView =>
      db.transactionSync(() => {
        const view = stored(spec.name)
        if (!view) return put(spec.name, { live: emptyTable(spec) })
        const { live, rebuild } = view
        return put(spec.name, {
          live: adapted(live, spec),
          ...(rebuild && { rebuild: adapted(rebuild, spec) }),
        })
      }),

    /** An unfinished rebuild is abandoned for an empty one. */
    beginRebuild: (spec: ViewSpec): StoredTable =>
      db.transactionSync(() => {
        const { live, rebuild } = declared(spec.name)
        if (rebuild) abandon(rebuild)
        const table = emptyTable(spec)
        put(spec.name, { live, rebuild: table })
        return table
      }),

    swap: (name: string): void =>
      db.transactionSync(() => {
        const { live, rebuild } = declared(name)
        if (!rebuild) throw new TypeError(`${name} is not being rebuilt`)
        abandon(live)
        put(name, { live: rebuild })
      }),

    /** Abandons read models, if they are there. */
    drop: (names: readonly string[]): void => {
      const there = names.filter((name) => stored(name))
      if (there.length === 0) return
      db.transactionSync(() => {
        for (const name of there) {
          const { live, rebuild } = declared(name)
          for (const table of rebuild ? [live, rebuild] : [live]) abandon(table)
          db.removeSync(viewKey(name))
        }
      })
    },

    versionOf: (name: string): number => declared(name).live.version ?? 1,

    checkpoint: (table: StoredTable) =>
      (db.get(checkpointKey(table)) as Position | undefined) ?? START,

    /** Removes abandoned keyspaces, a little at a time, until none is left or `stopped`. */
    async clean(stopped: () => boolean) {
      for (const drop of [
        ...db.getKeys({ start: dropKey(0), end: viewKeyOf(catalog, 'drop', '') }),
      ]) {
        const { start, end } = wholeKeyspace(Number(lastPartOf(drop)))
        for (let more = true; more && !stopped(); await setImmediate())
          more = db.transactionSync(() => {
            const keys = [...db.getKeys({ start, end, limit: removedAtOnce })]
            for (const key of keys) db.removeSync(key)
            if (keys.length === 0) db.removeSync(drop)
            return keys.length > 0
          })
      }
    },
  }
}
