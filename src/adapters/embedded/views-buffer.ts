import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { type Room, unlimited } from '../../ports/room.ts'
import type { Commit, Document } from '../../ports/views.ts'
import { explained } from './lmdb-errors.ts'
import { absent, presentOf } from './views-cache.ts'
import type { ViewsDatabase } from './views-database.ts'
import { type Table, viewsWriting, type Writing } from './views-writing.ts'

/**
 * Changes wait in memory, so that a document that changes often is written once, and neighbours
 * share pages. What waits longest is written this soon, and all where there is so much.
 * After a crash the events of what waited are folded again: these bounds are bounds of that.
 */
const usual = { afterMs: 1_000, changes: 8_192, bytes: 8 * 1024 * 1024 }

/**
 * As long as much more is to come, more waits: a document is then written once for many events.
 * With so much, nothing goes on before all of it is written. The time is for a log that stops to
 * answer: a slow machine must not write less at once.
 */
const bulk = { afterMs: 10_000, changes: 32_768, bytes: 32 * 1024 * 1024 }

/**
 * So many of a table that grows do not wait for more: they would but outlive the garbage
 * collector's young generation.
 */
const ofGrowth = 512

/**
 * So many of a table that is rebuilt do not wait for more where others have the event loop too: a
 * commit is in one piece, and takes as long as there is much. With twice as many there is a hurry.
 */
const ofRebuild = 512

/**
 * How long a write holds the event loop at a time, and leaves it to others where there is no hurry,
 * in milliseconds.
 */
const sliceMs = 4
const restMs = 8

/** So many changes of small tables share a transaction. */
const together = 1_024

/** What a commit takes on disk, for each byte of its documents and besides. */
const ofPages = 2
const spareBytes = 65_536

/** As many changes are written at once where somebody waits for them. */
const soon = 128

type Open = {
  writing: Writing
  /** Roughly the bytes of the changes of each of its tables. */
  bytes: readonly number[]
  transaction: ReturnType<ViewsDatabase['begin']>
  /** Everything is written, but not committed until there is space. Reads see it. */
  held: boolean
}

type Uses = {
  db: ViewsDatabase
  /** Called before a commit. */
  room?: Room
  /** Called for damage that a write meets while nobody waits for it. */
  onDamage(error: StoreDamaged): void
  /** In milliseconds. */
  now?: () => number
}

/**
 * Changed documents that wait to be written. A table is written whole, with its checkpoint, in one
 * transaction; small ones share it. The transaction stays open over turns of the event loop: much
 * that is written at once shares pages, and a turn is held no longer by it.
 */
export const viewsBuffer = (uses: Uses) => {
  const { db, room = unlimited, onDamage, now = () => performance.now() } = uses
  const { stored, readIndexed, beginWriting } = viewsWriting(db)
  /** Tables with changes or a checkpoint to write, and roughly the bytes of the changes. */
  const dirty = new Map<Table, number>()
  /** Those that are to be written now. */
  const late = new Set<Table>()
  let open: Open | undefined
  /** Who waits for the end of the write under way. */
  const waiting: { resolve: () => void; reject: (error: unknown) => void }[] = []
  let timer: NodeJS.Timeout | undefined
  /** When the timer ends. */
  let due = 0
  let slice: NodeJS.Immediate | undefined
  let rest: NodeJS.Timeout | undefined
  let refused = false

  const start = (tables: readonly Table[], isBulk: boolean): Open => {
    const transaction = db.begin()
    const bytes = tables.map((table) => dirty.get(table) ?? 0)
    for (const table of tables) {
      dirty.delete(table)
      late.delete(table)
    }
    open = { writing: beginWriting(tables, isBulk), bytes, transaction, held: false }
    return open
  }

  /** All of it waits again. */
  const giveUp = ({ writing, bytes, transaction }: Open) => {
    open = undefined
    transaction.abort()
    writing.failed()
    for (const [n, table] of writing.tables.entries())
      dirty.set(table, (dirty.get(table) ?? 0) + (bytes[n] ?? 0))
  }

  /** Whether all steps were taken before a time. */
  const finished = ({ writing: { steps }, held }: Open, until: number): boolean => {
    if (held) return true
    while (!steps.next().done) if (now() >= until) return false
    return true
  }

  /**
   * Resumes the write under way, or begins one of these tables. Answers whether it ended in time.
   * @throws StoreUnavailable, StoreDamaged; the changes then stay in memory, or in the open
   * transaction
   */
  const advance = (
    tables: readonly Table[],
    { until = Infinity, isBulk = false } = {},
  ): boolean => {
    try {
      const current = open ?? start(tables, isBulk)
      if (!finished(current, until) || !hasRoom(current)) return false
      current.transaction.commit()
      current.writing.committed()
    } catch (error) {
      if (open) giveUp(open)
      const failure = explained(error, 'the views')
      refused = !(failure instanceof StoreDamaged)
      const cause = refused
        ? new StoreUnavailable('the views cannot be written', { cause: error })
        : failure
      for (const { reject } of waiting.splice(0)) reject(cause)
      throw cause
    }
    open = undefined
    refused = false
    for (const { resolve } of waiting.splice(0)) resolve()
    return true
  }

  /** Whether it may be committed. If not, it is retained and retried later. */
  const hasRoom = (current: Open): boolean => {
    try {
      room(current.bytes.reduce((sum, bytes) => sum + ofPages * bytes, spareBytes))
      return true
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      current.held = true
      refused = true
      for (const { resolve } of waiting.splice(0)) resolve()
      writeSoon(usual.afterMs)
      return false
    }
  }

  const stopTimers = () => {
    clearTimeout(timer)
    clearImmediate(slice)
    clearTimeout(rest)
    timer = undefined
    slice = undefined
    rest = undefined
  }

  const write = (isBulk = false) => {
    stopTimers()
    if (open) advance([])
    if (!open && dirty.size > 0) advance([...dirty.keys()], { isBulk })
    if (open) throw new StoreUnavailable('the views cannot be written: the disk is nearly full')
  }

  /** The first of the tables that are due, and others with it that are small. */
  const nextOnes = (): Table[] => {
    const tables: Table[] = []
    let changes = 0
    for (const table of late) {
      if (tables.length > 0 && changes + table.changed.size > together) continue
      tables.push(table)
      changes += table.changed.size
    }
    return tables
  }

  /** Counts a few tables at most, so no total of all changes is kept. */
  const isFull = (most: typeof bulk): boolean => {
    let changes = 0
    let bytes = 0
    for (const [{ changed }, own] of dirty) {
      changes += changed.size
      bytes += own
    }
    return changes >= most.changes || bytes >= most.bytes
  }

  const isRebuilt = ({ changed, rebuilt }: Table, times = 1): boolean =>
    rebuilt && changed.size >= times * ofRebuild

  /** Whether somebody waits, or more waits than is to be written at once. */
  const isUrgent = (): boolean => {
    if (waiting.length > 0) return true
    for (const table of dirty.keys()) if (isRebuilt(table, 2)) return true
    return isFull(usual)
  }

  const writeSlice = () => {
    slice = undefined
    rest = undefined
    const until = now() + sliceMs
    try {
      while ((open || late.size > 0) && advance(nextOnes(), { until }) && now() < until);
    } catch (error) {
      // The next commit tries again.
      if (error instanceof StoreDamaged) onDamage(error)
      return
    }
    if (open ? open.held : late.size === 0) return
    if (isUrgent()) slice = setImmediate(writeSlice)
    else rest = setTimeout(writeSlice, restMs).unref()
  }

  /** Writes the tables that are due, for a while at a time. */
  const writeInSlices = () => {
    if (rest && !isUrgent()) return
    clearTimeout(rest)
    rest = undefined
    slice ??= setImmediate(writeSlice)
  }

  const writeSoon = (afterMs: number) => {
    const at = performance.now() + afterMs
    if (timer && due <= at) return
    clearTimeout(timer)
    due = at
    timer = setTimeout(() => {
      timer = undefined
      for (const table of dirty.keys()) late.add(table)
      if (open || late.size > 0) writeInSlices()
    }, afterMs).unref()
  }

  /**
   * Writes what waits of one table, so that its indexes have it. Undefined where they have; else
   * ask again once it resolves. @throws StoreUnavailable, StoreDamaged
   */
  const ensureWritten = (table: Table): Promise<void> | undefined => {
    if (table.changed.size === 0 && (table.writing.size === 0 || open?.held)) return undefined
    if (open?.held) {
      giveUp(open)
      start([...dirty.keys()], false)
    }
    if (!open && table.changed.size <= soon) {
      advance([table])
      return undefined
    }
    if (table.changed.size > 0) late.add(table)
    const completion = new Promise<void>((resolve, reject) => {
      waiting.push({ resolve, reject })
    })
    writeInSlices()
    return completion
  }

  return {
    /** Writes all that waits. @throws StoreUnavailable; the changes then stay in memory */
    write: () => write(),

    ensureWritten,

    /**
     * Writes what waits of all tables, for a while in each turn of the event loop; what comes
     * meanwhile may still wait.
     * @throws StoreUnavailable, StoreDamaged
     */
    async writtenInSlices(): Promise<void> {
      for (const table of [...dirty.keys()]) {
        // The write under way, then that of the table.
        await ensureWritten(table)
        await ensureWritten(table)
      }
    },

    /** Gives up what waits: the file is dropped. */
    discard() {
      stopTimers()
      if (open) giveUp(open)
      for (const table of dirty.keys()) table.changed.clear()
      dirty.clear()
      late.clear()
      for (const { resolve } of waiting.splice(0)) resolve()
    },

    /** Tries again what the disk has refused. @throws StoreUnavailable when it still does */
    requireWritten() {
      if (refused) write()
    },

    /** A document as it is in the database, by an id that an index has. */
    found(table: Table, id: string): Document | undefined {
      const held = table.writing.get(id)
      return held ? presentOf(held) : readIndexed(table, id)
    },

    /** A document as of the last commit. */
    current(table: Table, id: string): Document | undefined {
      const changed = table.changed.get(id) ?? table.writing.get(id)
      return changed ? presentOf(changed) : stored(table, id)
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

    /** Writes what is due. `more`: as many changes are to follow at once. */
    taken({ more = false } = {}) {
      if (isFull(bulk)) return write(more)
      if (more) {
        const grown = [...dirty.keys()].filter(
          ({ grows, changed }) => grows && changed.size >= ofGrowth,
        )
        if (grown.length > 0) {
          if (open) advance([])
          advance(grown, { isBulk: true })
        }
      } else {
        const all = isFull(usual)
        for (const table of dirty.keys()) if (all || isRebuilt(table)) late.add(table)
      }
      if (late.size > 0) writeInSlices()
      if (dirty.size > 0) writeSoon(more ? bulk.afterMs : usual.afterMs)
    },
  }
}

export type ViewsBuffer = ReturnType<typeof viewsBuffer>
