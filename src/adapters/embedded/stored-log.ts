import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Position } from '../../domain/event.ts'
import { type RecordedEvent, START, StoreDamaged } from '../../ports/event-store.ts'
import { readDatabases } from './environment.ts'
import { dataKeyKey, dataKeyName, streamKey } from './index-key.ts'
import { explaining } from './lmdb-errors.ts'
import { eventsOf } from './record.ts'

const countOf = (database: { getStats(): object }): number =>
  (database.getStats() as { entryCount: number }).entryCount

/** The most that one read transaction reads: the server reuses no page of the file meanwhile. */
const pageRows = 1_000
const pageBytes = 4 * 1024 * 1024

/** An append as it is stored: the position of its last event, its JSON, and its events. */
export type StoredRecord = { position: Position; text: string; events: readonly RecordedEvent[] }

/** The databases beside the records. */
export type RowTable = 'answers' | 'undelivered' | 'installation' | 'keys'

/** A data key by its name; one without bytes is destroyed. */
export type StoredRow = { key: string; value: Buffer }

/** There is no log in a folder. */
export class NoLog extends Error {
  override readonly name = 'NoLog'
}

/**
 * Opens the log in a folder for reading, in another process than its server, which may be running.
 * Read transactions are short, so that the server's file does not grow. A damaged page ends this
 * process.
 * @throws NoLog, StoreFormat, StoreDamaged
 */
export const openStoredLog = (path: string) => {
  const file = join(path, 'data.mdb')
  const databases = existsSync(file) && explaining(() => readDatabases(path), file)
  if (!databases) throw new NoLog(`${path} holds no log: set DATA_DIR`)
  const { root, records, streams } = databases

  const look = <T>(reading: () => T): T => {
    try {
      return explaining(reading, file)
    } finally {
      root.resetReadTxn()
    }
  }

  const damaged = (what: string) => new StoreDamaged(`${file}: ${what}`)

  /** @throws StoreDamaged where the record is incomplete or does not continue its stream */
  const recordAt = (position: number, text: string | undefined, before: number): StoredRecord => {
    const events = text === undefined ? [] : eventsOf(text, position)
    const [first] = events
    const last = events.at(-1)
    if (text === undefined || !first || !last || first.position <= before)
      throw damaged(`damaged at position ${position}`)
    const { stream, revision } = first
    if (streams.get(streamKey(stream, last.revision)) !== position)
      throw damaged(`position ${position} is not in its stream`)
    const previous = revision === 0 ? START : streams.get(streamKey(stream, revision - 1))
    if (previous === undefined || previous >= first.position)
      throw damaged(`${stream} has a gap before position ${position}`)
    return { position: last.position, text, events }
  }

  const pageAfter = (after: number, upTo: number, limit = pageRows): StoredRecord[] => {
    const page: StoredRecord[] = []
    let [before, chars] = [after, 0]
    for (const { key, value } of records.getRange({ start: after + 1, limit })) {
      if (key > upTo) break
      page.push(recordAt(key, value, before))
      before = key
      chars += value?.length ?? 0
      if (chars > pageBytes) break
    }
    return page
  }

  const rowsAfter = (table: RowTable, key: string | undefined): StoredRow[] => {
    const range = key === undefined ? {} : { start: key, exclusiveStart: true }
    const page: StoredRow[] = []
    let bytes = 0
    // A store that was not opened by this release yet may lack a table.
    const rows: Iterable<{ key: string; value: string | Buffer | undefined }> =
      databases[table]?.getRange({ ...range, limit: pageRows }) ?? []
    for (const { key, value } of rows) {
      if (value === undefined) throw damaged(`damaged in ${table}`)
      // Copied: lmdb may use its buffer again.
      page.push({ key, value: Buffer.from(value) })
      bytes += value.length
      if (bytes > pageBytes) break
    }
    return page
  }

  return {
    /** The position of the last event. @throws StoreDamaged where records and streams differ */
    head: (): Position =>
      look(() => {
        const [all, placed] = [countOf(records), countOf(streams)]
        if (all !== placed) throw damaged(`${all} records, ${placed} in streams`)
        const [last] = records.getKeys({ reverse: true, limit: 1 })
        return (last as Position | undefined) ?? START
      }),

    /** The id of the first event, which tells logs apart. */
    id: (): string | null => look(() => pageAfter(START, Infinity, 1)[0]?.events[0]?.id ?? null),

    isDestroyed: (key: string): boolean =>
      look(() => databases.keys.get(dataKeyKey(key))?.length === 0),

    /** The records after a position up to another, a page at a time. @throws StoreDamaged */
    async *records(after: Position, upTo: Position): AsyncGenerator<readonly StoredRecord[]> {
      for (let position = after; ; await setImmediate()) {
        const page = look(() => pageAfter(position, upTo))
        const last = page.at(-1)
        if (!last) return
        yield page
        position = last.position
      }
    },

    /** All rows of a table, a page at a time. @throws StoreDamaged */
    async *rows(table: RowTable): AsyncGenerator<readonly StoredRow[]> {
      for (let after: string | undefined; ; await setImmediate()) {
        const rows = look(() => rowsAfter(table, after))
        const last = rows.at(-1)
        if (!last) return
        after = last.key
        yield table === 'keys' ? rows.map((row) => ({ ...row, key: dataKeyName(row.key) })) : rows
      }
    },

    async close(): Promise<void> {
      await root.close()
    },
  }
}

export type StoredLog = ReturnType<typeof openStoredLog>
