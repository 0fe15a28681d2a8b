import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import type { Commit, Document } from '../../ports/views.ts'
import { absent, shownAs } from './views-cache.ts'
import type { ViewsDatabase } from './views-database.ts'
import { type Table, viewsWriting } from './views-writing.ts'
import { writePace } from './write-pace.ts'

/**
 * Changes wait in memory, so that a document that changes often is written once, and neighbours
 * share pages. What waits longest is written this soon; with so many changes all is written, in
 * pieces. After a crash the events of what waited are folded again: these bounds are bounds of that.
 */
const usual = { afterMs: 1_000, changes: 8_192, bytes: 8 * 1024 * 1024 }

/**
 * As long as much more is to come, more waits: a document is then written once for many events.
 * With so much, nothing goes on before all of it is written. The time is for a log that stops to answer: a slow machine
 * must not write less at once.
 */
const bulk = { afterMs: 10_000, changes: 32_768, bytes: 32 * 1024 * 1024 }

/** So many of a table that grows do not wait for more: they would but outlive the garbage collector's young generation. */
const ofGrowth = 512

/**
 * Changed documents that wait to be written. A table is written whole, with its checkpoint, in one
 * transaction; small ones share it.
 */
export const viewsBuffer = (db: ViewsDatabase) => {
  const { stored, found, write: writeTables } = viewsWriting(db)
  const pace = writePace()
  /** Tables with changes or a checkpoint to write, and roughly the bytes of the changes. */
  const dirty = new Map<Table, number>()
  /** Those that are to be written now. */
  const late = new Set<Table>()
  let timer: NodeJS.Timeout | undefined
  /** When the timer ends. */
  let due = 0
  let pieces: NodeJS.Immediate | undefined
  let refused = false

  /** @throws StoreUnavailable; the changes then stay in memory */
  const writeSome = (tables: readonly Table[], isBulk = false) => {
    const took = pace.writing(tables)
    const start = performance.now()
    try {
      writeTables(tables, isBulk)
      refused = false
      if (!isBulk) took(performance.now() - start)
    } catch (error) {
      if (error instanceof StoreDamaged) throw error
      refused = true
      throw new StoreUnavailable('the views cannot be written', { cause: error })
    }
    for (const table of tables) {
      dirty.delete(table)
      late.delete(table)
    }
  }

  const stopTimers = () => {
    clearTimeout(timer)
    clearImmediate(pieces)
    timer = undefined
    pieces = undefined
  }

  const write = (isBulk = false) => {
    stopTimers()
    if (dirty.size > 0) writeSome([...dirty.keys()], isBulk)
  }

  /** Writes the tables that are due, a piece in each turn of the event loop. */
  const writeInPieces = () => {
    pieces ??= setImmediate(() => {
      pieces = undefined
      try {
        const piece = pace.piece(late)
        if (piece.length > 0) writeSome(piece)
      } catch {
        // The next commit tries again.
        return
      }
      if (late.size > 0) writeInPieces()
    })
  }

  const writeSoon = (afterMs: number) => {
    const at = performance.now() + afterMs
    if (timer && due <= at) return
    clearTimeout(timer)
    due = at
    timer = setTimeout(() => {
      timer = undefined
      for (const table of dirty.keys()) late.add(table)
      if (late.size > 0) writeInPieces()
    }, afterMs).unref()
  }

  /** A few tables at most: what waits in all is not counted besides. */
  const isFull = (most: typeof bulk): boolean => {
    let changes = 0
    let bytes = 0
    for (const [{ changed }, own] of dirty) {
      changes += changed.size
      bytes += own
    }
    return changes >= most.changes || bytes >= most.bytes
  }

  return {
    /** Writes all that waits. @throws StoreUnavailable; the changes then stay in memory */
    write: () => write(),

    /** Writes what waits of one table, so that its indexes have it. @throws StoreUnavailable */
    writeTable(table: Table) {
      if (table.changed.size > 0) writeSome([table])
    },

    /** Gives up what waits: the file is dropped. */
    discard() {
      stopTimers()
      for (const table of dirty.keys()) table.changed.clear()
      dirty.clear()
      late.clear()
    },

    /** Tries again what the disk has refused. @throws StoreUnavailable when it still does */
    requireWritten() {
      if (refused) write()
    },

    /** A document as it is in the database, by an id that an index has. */
    found,

    /** A document as of the last commit. */
    current(table: Table, id: string): Document | undefined {
      const changed = table.changed.get(id)
      return changed ? shownAs(changed) : stored(table, id)
    },

    /**
     * Takes what a commit changes in a table, roughly so many bytes. Call `requireWritten` before,
     * and `taken` after.
     */
    take(table: Table, { changes, position }: Omit<Commit, 'view'>, bytes: number) {
      for (const { id, document } of changes) table.changed.set(id, document ?? absent)
      table.checkpoint = position
      dirty.set(table, (dirty.get(table) ?? 0) + bytes)
    },

    /**
     * Writes what is due. `more`: as many changes are to follow at once; `rebuilds`: these are of a
     * read model that is rebuilt.
     */
    taken({ more = false, rebuilds = false } = {}) {
      if (isFull(bulk)) return write(more)
      if (more) {
        const grown = [...dirty.keys()].filter(
          ({ grows, changed }) => grows && changed.size >= ofGrowth,
        )
        if (grown.length > 0) writeSome(grown, true)
      } else {
        const all = isFull(usual)
        for (const table of dirty.keys()) if (all || pace.isDue(table, rebuilds)) late.add(table)
      }
      if (late.size > 0) writeInPieces()
      if (dirty.size > 0) writeSoon(more ? bulk.afterMs : usual.afterMs)
    },
  }
}

export type ViewsBuffer = ReturnType<typeof viewsBuffer>
