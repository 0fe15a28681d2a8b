import type { Key } from 'lmdb'
import type { Position } from '../../domain/event.ts'
import type { Document } from '../../ports/views.ts'
import { turnedId } from './index-key.ts'
import { presentOf, viewsCache } from './views-cache.ts'
import { checkpointKey, type StoredIndex, type StoredTable } from './views-catalog.ts'
import type { ViewsDatabase } from './views-database.ts'
import { idsBehind } from './views-ids.ts'
import { documentKey, type Part, placesIn } from './views-keys.ts'

/** So many totals of indexes are kept in memory. */
const maxTotals = 20_000

/** How many documents or entries a step of a write has. */
const ofStep = 4

/** A generation of a read model: its stored tables and its unwritten changes. */
export type Table = StoredTable & {
  places: readonly (StoredIndex & ReturnType<typeof placesIn>)[]
  checkpoint: Position
  /** Removed documents as `absent`. */
  changed: Map<string, Document>
  /** The documents of the write under way. */
  writing: ReadonlyMap<string, Document>
  /** The documents of the last write: turns that were under way then change them once more. */
  lastWrite: ReadonlyMap<string, Document>
  /** The last write had mostly new documents and few totals, so waiting gains little. */
  grows: boolean
  /** Of a rebuild: the whole log is folded into it while the process serves requests. */
  rebuilt: boolean
}

const none: ReadonlyMap<string, Document> = new Map()

export const tableOf = (stored: StoredTable, checkpoint: Position, rebuilt = false): Table => ({
  ...stored,
  places: Object.values(stored.indexes).map((index) => ({ ...index, ...placesIn(index) })),
  checkpoint,
  changed: new Map(),
  writing: none,
  lastWrite: none,
  grows: false,
  rebuilt,
})

/** Gives different texts for keys whose parts differ only in type. */
const nameOf = (key: readonly Part[]): string => {
  let name = ''
  for (const part of key) name += typeof part === 'string' ? `\0"${part}` : `\0${part}`
  return name
}

/** Roughly the order of keys of one keyspace, enough to write neighbours one after another. */
const byKey = (a: readonly Part[], b: readonly Part[]): number => {
  for (let n = 1; n < a.length; n++) {
    const left = a[n] ?? ''
    const right = b[n] ?? ''
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** A document to be written; `turned`: its id as its key has it. A new one is not in the cache. */
type Change = { id: string; turned: string; isNew: boolean; after: Document | undefined }

const byTurned = (a: Change, b: Change): number =>
  a.turned < b.turned ? -1 : a.turned > b.turned ? 1 : 0

const isGrowth = (changes: readonly Change[], totals: number): boolean => {
  let added = 0
  for (const { isNew } of changes) if (isNew) added++
  return 2 * added >= changes.length && 8 * totals <= changes.length
}

/** By how much one write changes a total of an index. */
type Delta = { key: Part[]; delta: number }

/** A write of tables. */
export type Writing = {
  tables: readonly Table[]
  steps: Iterator<undefined>
  /** To be called once it is committed. */
  committed(): void
  /** To be called when it failed: its changes wait again. */
  failed(): void
}

/** Documents as they are in the database, and how changed ones are written to it. */
export const viewsWriting = (db: ViewsDatabase) => {
  const cache = viewsCache()
  const behind = idsBehind(db)
  const totals = new Map<string, number>()

  const stored = (
    { documents, lastWrite }: Table,
    id: string,
    turned = turnedId(id),
  ): Document | undefined => {
    if (behind.all(documents, turned)) return undefined
    const known = lastWrite.get(id) ?? cache.get(documents, id)
    if (known) return presentOf(known)
    const read = db.get(documentKey(documents, turned)) as Document | undefined
    cache.set(documents, id, read)
    return read
  }

  /** The same for an id that an index has: most often it is in memory. */
  const readIndexed = (table: Table, id: string): Document | undefined => {
    const known = table.lastWrite.get(id) ?? cache.get(table.documents, id)
    return known ? presentOf(known) : stored(table, id)
  }

  const count = (deltas: Map<string, Delta>, key: Part[], delta: number) => {
    const name = nameOf(key)
    const known = deltas.get(name)
    if (known) known.delta += delta
    else deltas.set(name, { key, delta })
  }

  /** Writes a document, and removes its old entries. */
  const writeDocument = (
    table: Table,
    { id, turned, isNew, after }: Change,
    deltas: Map<string, Delta>,
    added: readonly Part[][][],
  ) => {
    const { documents, places } = table
    const before = isNew ? undefined : stored(table, id, turned)
    if (before === after) return
    const key = documentKey(documents, turned)
    if (after) {
      db.putSync(key, after)
      behind.add(documents, turned)
    } else db.removeSync(key)
    for (const [n, place] of places.entries()) {
      if (before && after && place.isSame(before, after)) continue
      const old = before && place.entry(place.entries, before, id)
      const now = after && place.entry(place.entries, after, id)
      if (old) db.removeSync(old as Key)
      if (now) added[n]?.push(now)
      const isCounted = place.totals !== false
      if (!isCounted || (before && after && place.isSameGroup(before, after))) continue
      if (old) count(deltas, place.count(place.counts, old), -1)
      if (now) count(deltas, place.count(place.counts, now), 1)
    }
  }

  const changesIn = ({ documents, writing }: Table): readonly Change[] => {
    const changes: Change[] = []
    for (const [id, document] of writing) {
      const turned = turnedId(id)
      const isNew = behind.all(documents, turned)
      changes.push({ id, turned, isNew, after: presentOf(document) })
    }
    return changes.sort(byTurned)
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
    readIndexed,

    /**
     * Starts to write the changes of tables: documents, entries, totals and checkpoints, in the
     * order of their keys, a few in a step; after the last, `commit` it. `bulk`: documents are
     * unlikely to change again soon, so they are not kept in memory.
     */
    beginWriting(tables: readonly Table[], bulk: boolean): Writing {
      const writes = tables.map((table) => {
        const { checkpoint, changed } = table
        if (changed.size > 0) {
          table.writing = changed
          // Not `clear`: V8 would keep the old generation's table with all of them.
          table.changed = new Map()
        }
        return { table, checkpoint, changes: [] as readonly Change[] }
      })
      let now: ReadonlyMap<string, number> = new Map()

      function* steps(): Generator<undefined> {
        const deltas = new Map<string, Delta>()
        let operations = 0
        for (const write of writes) {
          const { table, checkpoint } = write
          if (table.writing.size > 0) {
            const before = deltas.size
            write.changes = changesIn(table)
            const added = table.places.map((): Part[][] => [])
            for (const change of write.changes) {
              writeDocument(table, change, deltas, added)
              if (++operations % ofStep === 0) yield
            }
            for (const entries of added) {
              entries.sort(byKey)
              for (const entry of entries) {
                db.putSync(entry as Key, null)
                if (++operations % ofStep === 0) yield
              }
            }
            table.grows = isGrowth(write.changes, deltas.size - before)
          }
          db.putSync(checkpointKey(table), checkpoint)
        }
        now = writeTotals(deltas)
      }

      return {
        tables,
        steps: steps(),
        committed() {
          if (totals.size > maxTotals) totals.clear()
          for (const [name, total] of now) totals.set(name, total)
          for (const { table, changes } of writes) {
            if (changes.length === 0) continue
            for (const { id, isNew, after } of changes)
              if (!isNew) cache.replace(table.documents, id, after)
            table.lastWrite = bulk ? none : table.writing
            table.writing = none
          }
        },
        failed() {
          for (const table of tables) {
            table.changed = new Map([...table.writing, ...table.changed])
            table.writing = none
          }
        },
      }
    },
  }
}
