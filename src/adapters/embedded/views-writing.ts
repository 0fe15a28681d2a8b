import type { Key } from 'lmdb'
import type { Position } from '../../domain/event.ts'
import type { Document } from '../../ports/views.ts'
import { turnedId } from './index-key.ts'
import { shownAs, viewsCache } from './views-cache.ts'
import { checkpointKey, type StoredIndex, type StoredTable } from './views-catalog.ts'
import type { ViewsDatabase } from './views-database.ts'
import { idsBehind } from './views-ids.ts'
import { documentKey, type Part, placesIn } from './views-keys.ts'

/** From so many changes on, they are written in the order of their keys: neighbours share pages. */
const sortedFrom = 1_000
/** So many totals of indexes are kept in memory. */
const keptTotals = 20_000

/** A generation of a read model: what is stored, and what is not written yet. */
export type Table = StoredTable & {
  places: readonly (StoredIndex & ReturnType<typeof placesIn>)[]
  checkpoint: Position
  /** Those that are gone as `absent`. */
  changed: Map<string, Document>
}

export const tableOf = (stored: StoredTable, checkpoint: Position): Table => ({
  ...stored,
  places: Object.values(stored.indexes).map((index) => ({ ...index, ...placesIn(index) })),
  checkpoint,
  changed: new Map(),
})

/** Gives different texts for keys whose parts differ only in type. */
const nameOf = (key: readonly Part[]): string => {
  let name = ''
  for (const part of key) name += typeof part === 'string' ? `\0"${part}` : `\0${part}`
  return name
}

/**
 * Roughly the order of keys of one keyspace: that neighbours are written one after another is enough. Texts are told
 * apart first, as V8 compares them faster where it knows that they are texts.
 */
const byKey = (a: readonly Part[], b: readonly Part[]): number => {
  for (let n = 1; n < a.length; n++) {
    const one = a[n] ?? ''
    const other = b[n] ?? ''
    if (typeof one === 'string' && typeof other === 'string') {
      if (one !== other) return one < other ? -1 : 1
    } else if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

/** A document that is to be written; `turned`: its id as its key has it. */
type Change = { id: string; turned: string; after: Document | undefined }

const byTurned = (a: Change, b: Change): number =>
  a.turned < b.turned ? -1 : a.turned > b.turned ? 1 : 0

/** By how much one write changes a total of an index. */
type Delta = { key: Part[]; delta: number }

/** Documents as they are in the database, and how changed ones are written to it. */
export const viewsWriting = (db: ViewsDatabase) => {
  const cache = viewsCache()
  const behind = idsBehind(db)
  const totals = new Map<string, number>()

  const stored = ({ documents }: StoredTable, id: string): Document | undefined => {
    const known = cache.get(documents, id)
    if (known) return shownAs(known)
    const turned = turnedId(id)
    if (behind.all(documents, turned)) return undefined
    const read = db.get(documentKey(documents, turned)) as Document | undefined
    cache.set(documents, id, read)
    return read
  }

  const count = (deltas: Map<string, Delta>, key: Part[], delta: number) => {
    const name = nameOf(key)
    const known = deltas.get(name)
    if (known) known.delta += delta
    else deltas.set(name, { key, delta })
  }

  /** Writes a document. Its new entries are put, or added to those that are to be sorted. */
  const writeDocument = (
    table: Table,
    { id, turned, after }: Change,
    deltas: Map<string, Delta>,
    added: readonly Part[][][],
  ) => {
    const { documents, places } = table
    const before = behind.all(documents, turned) ? undefined : stored(table, id)
    if (before === after) return
    const key = documentKey(documents, turned)
    if (after) {
      db.putSync(key, after)
      behind.add(documents, turned)
    } else db.removeSync(key)
    for (let n = 0; n < places.length; n++) {
      const place = places[n]
      if (!place || (before && after && place.isSame(before, after))) continue
      const old = before && place.entry(place.entries, before, id)
      const now = after && place.entry(place.entries, after, id)
      if (old) db.removeSync(old as Key)
      const sorted = added[n]
      if (now && sorted) sorted.push(now)
      else if (now) db.putSync(now as Key, null)
      const isCounted = place.totals !== false
      if (!isCounted || (before && after && place.isSameGroup(before, after))) continue
      if (old) count(deltas, place.count(place.counts, old), -1)
      if (now) count(deltas, place.count(place.counts, now), 1)
    }
  }

  /** Writes the documents and entries of a table. */
  const writeTable = (table: Table, deltas: Map<string, Delta>) => {
    const { places, changed } = table
    const sorts = changed.size >= sortedFrom
    const changes: Change[] = []
    for (const [id, document] of changed)
      changes.push({ id, turned: turnedId(id), after: shownAs(document) })
    if (sorts) changes.sort(byTurned)
    /** New entries by index, where they are sorted. */
    const added = sorts ? places.map((): Part[][] => []) : []
    for (const change of changes) writeDocument(table, change, deltas, added)
    for (const entries of added)
      for (const entry of entries.sort(byKey)) db.putSync(entry as Key, null)
  }

  const writeTotals = (deltas: ReadonlyMap<string, Delta>): Map<string, number> => {
    const now = new Map<string, number>()
    for (const [name, { key, delta }] of deltas) {
      if (delta === 0) continue
      const total = (totals.get(name) ?? (db.get(key as Key) as number | undefined) ?? 0) + delta
      if (total === 0) db.removeSync(key as Key)
      else db.putSync(key as Key, total)
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
    write(tables: readonly Table[], bulk: boolean): void {
      const now = db.transactionSync(() => {
        const deltas = new Map<string, Delta>()
        for (const table of tables) {
          if (table.changed.size > 0) writeTable(table, deltas)
          db.putSync(checkpointKey(table), table.checkpoint)
        }
        return writeTotals(deltas)
      })
      if (totals.size > keptTotals) totals.clear()
      for (const [name, total] of now) totals.set(name, total)
      const keep = bulk ? cache.replace : cache.set
      for (const table of tables) {
        for (const [id, after] of table.changed) keep(table.documents, id, after)
        // Not `clear`: V8 would keep the old generation's table with all of them.
        table.changed = new Map()
      }
    },
  }
}
