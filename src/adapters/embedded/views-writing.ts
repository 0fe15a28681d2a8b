import type { Key } from 'lmdb'
import type { Position } from '../../domain/event.ts'
import type { Document } from '../../ports/views.ts'
import { idOfTurned, turnedId } from './index-key.ts'
import { viewsCache } from './views-cache.ts'
import { checkpointKey, type StoredIndex, type StoredTable } from './views-catalog.ts'
import type { ViewsDatabase } from './views-database.ts'
import { idsBehind } from './views-ids.ts'
import {
  countKey,
  documentKey,
  entryKey,
  type IndexPlace,
  placer,
  samePlace,
} from './views-keys.ts'

/** From so many changes on, they are written in the order of their keys: neighbours share pages. */
const sortedFrom = 1_000
/** So many totals of indexes are kept in memory. */
const keptTotals = 20_000

/** A generation of a read model: what is stored, and what is not written yet. */
export type Table = StoredTable & {
  placers: readonly (StoredIndex & { place: ReturnType<typeof placer> })[]
  checkpoint: Position
  changed: Map<string, Document | undefined>
}

export const tableOf = (stored: StoredTable, checkpoint: Position): Table => ({
  ...stored,
  placers: Object.values(stored.indexes).map((index) => ({ ...index, place: placer(index) })),
  checkpoint,
  changed: new Map(),
})

/** Gives different texts for values that differ only in type. */
const nameOf = (keyspace: number, equals: IndexPlace, length: number): string => {
  let name = `${keyspace}`
  for (let n = 0; n < length; n++) {
    const value = equals[n]
    name += `\0${typeof value === 'string' ? '"' : ''}${value}`
  }
  return name
}

/** Roughly the order of their keys: that neighbours are written one after another is enough. */
const byPlace = (a: IndexPlace, b: IndexPlace): number => {
  for (let n = 0; n < a.length; n++) {
    const [one, other] = [a[n] ?? '', b[n] ?? '']
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

type Delta = { key: Key; delta: number }
type Count = (keyspace: number, place: IndexPlace, length: number, delta: number) => void
type Written = { id: string; before: Document | undefined; after: Document | undefined }

/** Documents as they are in the database, and how changed ones are written to it. */
export const viewsWriting = (db: ViewsDatabase) => {
  const cache = viewsCache()
  const behind = idsBehind(db)
  const totals = new Map<string, number>()

  const stored = ({ documents }: StoredTable, id: string): Document | undefined =>
    behind.all(documents, id)
      ? undefined
      : cache.get(documents, id, () => db.get(documentKey(documents, id)) as Document | undefined)

  const writeDocuments = (table: Table): Written[] => {
    const changed = [...table.changed.keys()]
    const ids = changed.length < sortedFrom ? changed : changed.map(turnedId).sort().map(idOfTurned)
    const written: Written[] = []
    for (const id of ids) {
      const before = stored(table, id)
      const after = table.changed.get(id)
      if (before === after) continue
      const key = documentKey(table.documents, id)
      if (after) {
        db.putSync(key, after)
        behind.add(table.documents, id)
      } else db.removeSync(key)
      written.push({ id, before, after })
    }
    return written
  }

  /** Writes the entries of changed documents in one index. */
  const writeEntries = (
    { place, equals: { length }, entries, counts, totals: counted }: Table['placers'][number],
    written: readonly Written[],
    count: Count,
  ) => {
    const added: { id: string; at: IndexPlace }[] = []
    const sorts = written.length >= sortedFrom
    for (const { id, before, after } of written) {
      const old = place(before)
      const now = place(after)
      if (samePlace(old, now)) continue
      if (old) db.removeSync(entryKey(entries, old, id))
      if (now && sorts) added.push({ id, at: now })
      else if (now) db.putSync(entryKey(entries, now, id), null)
      if (counted === false || samePlace(old, now, length)) continue
      if (old) count(counts, old, length, -1)
      if (now) count(counts, now, length, 1)
    }
    if (!sorts) return
    added.sort((a, b) => byPlace(a.at, b.at))
    for (const { id, at } of added) db.putSync(entryKey(entries, at, id), null)
  }

  const writeTotals = (deltas: ReadonlyMap<string, Delta>): Map<string, number> => {
    const now = new Map<string, number>()
    for (const [name, { key, delta }] of deltas) {
      if (delta === 0) continue
      const total = (totals.get(name) ?? (db.get(key) as number | undefined) ?? 0) + delta
      if (total === 0) db.removeSync(key)
      else db.putSync(key, total)
      now.set(name, total)
    }
    return now
  }

  return {
    stored,

    /**
     * Writes the changed documents, entries, totals and checkpoints of tables, in one transaction.
     * `bulk`: they are not likely to be read soon, so new ones are not kept in memory.
     */
    write(tables: Iterable<Table>, bulk: boolean): void {
      const now = db.transactionSync(() => {
        const deltas = new Map<string, Delta>()
        const count: Count = (keyspace, place, length, delta) => {
          const name = nameOf(keyspace, place, length)
          const known = deltas.get(name)
          if (known) known.delta += delta
          else deltas.set(name, { key: countKey(keyspace, place, length), delta })
        }
        for (const table of tables) {
          const written = writeDocuments(table)
          if (written.length > 0)
            for (const index of table.placers) writeEntries(index, written, count)
          db.putSync(checkpointKey(table), table.checkpoint)
        }
        return writeTotals(deltas)
      })
      if (totals.size > keptTotals) totals.clear()
      for (const [name, total] of now) totals.set(name, total)
      const keep = bulk ? cache.replace : cache.set
      for (const table of tables) {
        for (const [id, after] of table.changed) keep(table.documents, id, after)
        table.changed.clear()
      }
    },
  }
}
