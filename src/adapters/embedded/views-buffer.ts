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

/** As long as much more is to come, more waits: a document is then written once for many events. */
const bulk = { afterMs: 2_000, changes: 32_768, bytes: 32 * 1024 * 1024 }
/** From so many changes on, they are written in the order of their keys: neighbours share pages. */
const sortedFrom = 1_000

/** A generation of a read model: what is stored, and what is not written yet. */
export type Table = StoredTable & {
  placers: readonly (StoredIndex & { place: ReturnType<typeof placer> })[]
  checkpoint: Position
  changed: Map<string, Document | undefined>
}

/** What a commit changes in a table; `bytes` is roughly the size of its documents. */
type Addition = {
  table: Table
  changes: readonly DocumentChange[]
  position: Position
  bytes: number
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
  let waitingBytes = 0
  let timer: NodeJS.Timeout | undefined
  /** When the timer ends. */
  let due = 0
  let refused = false

  const stored = ({ documents }: Table, id: string): Document | undefined =>
    cache.get(documents, id, () => db.get(documentKey(documents, id)) as Document | undefined)

  type Count = (keyspace: number, equals: IndexPlace, delta: number) => void

  type Written = { id: string; before: Document | undefined; after: Document | undefined }

  /** Writes the changed documents of a table. */
  const writeDocuments = (table: Table): Written[] => {
    const ids = [...table.changed.keys()]
    if (ids.length >= sortedFrom) ids.sort()
    const written: Written[] = []
    for (const id of ids) {
      const before = stored(table, id)
      const after = table.changed.get(id)
      if (before === after) continue
      const key = documentKey(table.documents, id)
      if (after) db.putSync(key, after)
      else db.removeSync(key)
      written.push({ id, before, after })
    }
    return written
  }

  /** Writes the entries of changed documents in one index. */
  const writeEntries = (
    { place, equals, entries, counts }: Table['placers'][number],
    written: readonly Written[],
    count: Count,
  ) => {
    const added: { id: string; at: IndexPlace; order: string }[] = []
    const sorts = written.length >= sortedFrom
    for (const { id, before, after } of written) {
      const old = place(before)
      const now = place(after)
      if (samePlace(old, now)) continue
      if (old) db.removeSync(entryKey(entries, old, id))
      if (now) added.push({ id, at: now, order: sorts ? now.join('\0') : '' })
      if (samePlace(old, now, equals.length)) continue
      if (old) count(counts, old.slice(0, equals.length), -1)
      if (now) count(counts, now.slice(0, equals.length), 1)
    }
    if (sorts) added.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    for (const { id, at } of added) db.putSync(entryKey(entries, at, id), null)
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
      const written = writeDocuments(table)
      for (const index of table.placers) writeEntries(index, written, count)
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
    waitingBytes = 0
  }

  /** The next commit throws when this fails. */
  const writeSoon = (afterMs: number) => {
    const at = performance.now() + afterMs
    if (timer && due <= at) return
    clearTimeout(timer)
    due = at
    timer = setTimeout(() => {
      try {
        write()
      } catch {}
    }, afterMs).unref()
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

    /**
     * Takes all commits; or none, if the last write failed and fails again. `more`: as many are to
     * follow at once.
     */
    add(commits: readonly Addition[], more = false) {
      if (refused) write()
      for (const { table, changes, position, bytes } of commits) {
        waiting -= table.changed.size
        for (const { id, document } of changes) table.changed.set(id, document)
        waiting += table.changed.size
        waitingBytes += bytes
        table.checkpoint = position
        dirty.add(table)
      }
      const full = more
        ? waiting >= bulk.changes || waitingBytes >= bulk.bytes
        : waiting >= writeAtChanges
      if (full) write()
      else if (dirty.size > 0) writeSoon(more ? bulk.afterMs : writeAfterMs)
    },
  }
}

export type ViewsBuffer = ReturnType<typeof viewsBuffer>
