import type { Key } from 'lmdb'
import type { Position } from '../../domain/event.ts'
import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import type { Document, DocumentChange } from '../../ports/views.ts'
import { viewsCache } from './views-cache.ts'
import { checkpointKey, type StoredIndex, type StoredTable } from './views-catalog.ts'
import type { ViewsDatabase } from './views-database.ts'
import {
  countKey,
  documentKey,
  entryKey,
  type IndexPlace,
  placer,
  samePlace,
} from './views-keys.ts'

/**
 * Changes wait in memory, so that a document that changes often is written once. Longer than most
 * turns take, so that only the end of a turn is written.
 */
const writeAfterMs = 100
const writeAtChanges = 4_096

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
const nameOf = (keyspace: number, equals: IndexPlace): string => {
  let name = `${keyspace}`
  for (const value of equals) name += `\0${typeof value === 'string' ? '"' : ''}${value}`
  return name
}

/** Changed documents that wait to be written, all tables in one transaction. */
export const viewsBuffer = (db: ViewsDatabase) => {
  const cache = viewsCache()
  const dirty = new Set<Table>()
  let waiting = 0
  let timer: NodeJS.Timeout | undefined
  let refused = false

  const stored = ({ documents }: Table, id: string): Document | undefined =>
    cache.get(documents, id, () => db.get(documentKey(documents, id)) as Document | undefined)

  type Count = (keyspace: number, equals: IndexPlace, delta: number) => void

  /** Writes one document and its changed index entries. */
  const writeDocument = (table: Table, id: string, after: Document | undefined, count: Count) => {
    const before = stored(table, id)
    if (before === after) return
    const key = documentKey(table.documents, id)
    if (after) db.putSync(key, after)
    else db.removeSync(key)
    for (const { place, equals, entries, counts } of table.placers) {
      const old = place(before)
      const now = place(after)
      if (samePlace(old, now)) continue
      if (old) db.removeSync(entryKey(entries, old, id))
      if (now) db.putSync(entryKey(entries, now, id), null)
      if (samePlace(old, now, equals.length)) continue
      if (old) count(counts, old.slice(0, equals.length), -1)
      if (now) count(counts, now.slice(0, equals.length), 1)
    }
  }

  const writeAll = () => {
    const deltas = new Map<string, { key: Key; delta: number }>()
    const count: Count = (keyspace, equals, delta) => {
      const name = nameOf(keyspace, equals)
      const known = deltas.get(name)
      if (known) known.delta += delta
      else deltas.set(name, { key: countKey(keyspace, equals), delta })
    }
    for (const table of dirty) {
      for (const [id, after] of table.changed) writeDocument(table, id, after, count)
      db.putSync(checkpointKey(table), table.checkpoint)
    }
    for (const { key, delta } of deltas.values()) {
      if (delta === 0) continue
      const total = ((db.get(key) as number | undefined) ?? 0) + delta
      if (total === 0) db.removeSync(key)
      else db.putSync(key, total)
    }
  }

  /** @throws StoreUnavailable; the changes then stay in memory */
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    if (dirty.size === 0) return
    try {
      db.transactionSync(writeAll)
      refused = false
    } catch (error) {
      if (error instanceof StoreDamaged) throw error
      refused = true
      throw new StoreUnavailable('the views cannot be written', { cause: error })
    }
    for (const table of dirty) {
      for (const [id, after] of table.changed) cache.set(table.documents, id, after)
      table.changed.clear()
    }
    dirty.clear()
    waiting = 0
  }

  /** The next commit throws when this fails. */
  const writeSoon = () => {
    timer ??= setTimeout(() => {
      try {
        write()
      } catch {}
    }, writeAfterMs).unref()
  }

  return {
    write,

    /** Gives up what waits: the file is dropped. */
    discard() {
      clearTimeout(timer)
      for (const table of dirty) table.changed.clear()
      dirty.clear()
    },

    /** Tries again what the disk has refused. @throws StoreUnavailable when it still does */
    requireWritten() {
      if (refused) write()
    },

    /** A document as it is in the database. */
    stored,

    /** A document as of the last commit. */
    current: (table: Table, id: string): Document | undefined =>
      table.changed.has(id) ? table.changed.get(id) : stored(table, id),

    /** Takes all commits; or none, if the last write failed and fails again. */
    add(
      commits: readonly { table: Table; changes: readonly DocumentChange[]; position: Position }[],
    ) {
      if (refused) write()
      for (const { table, changes, position } of commits) {
        for (const { id, document } of changes) table.changed.set(id, document)
        waiting += changes.length
        table.checkpoint = position
        dirty.add(table)
      }
      if (waiting >= writeAtChanges) write()
      else if (dirty.size > 0) writeSoon()
    },
  }
}

export type ViewsBuffer = ReturnType<typeof viewsBuffer>
