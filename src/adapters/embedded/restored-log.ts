import { START, StoreDamaged } from '../../ports/event-store.ts'
import type { Room } from '../../ports/room.ts'
import { dataKeyKey, streamKey } from './index-key.ts'
import { isName, openLog } from './log.ts'
import { logReader } from './reader.ts'
import type { RowTable, StoredRecord, StoredRow } from './stored-log.ts'

const bytesOf = (rows: readonly StoredRow[]): number =>
  rows.reduce((bytes, { key, value }) => bytes + key.length + value.length, 0)

/** A log that is written anew in a folder, from what was read of another. @throws StoreInUse */
export const restoredLog = async (path: string, room: Room) => {
  const log = await openLog({ path, room })
  const reader = logReader(log)

  const checkNames = (names: readonly string[]): void => {
    for (const name of names)
      if (!isName(name)) throw new StoreDamaged(`not a name: ${name.slice(0, 60)}`)
  }

  /** @throws StoreDamaged where a stream has a gap */
  const checkRevisions = (records: readonly StoredRecord[]): void => {
    /** The last revision of each stream. */
    const lastRevisions = new Map<string, number>()
    for (const { events, position } of records)
      for (const { stream, revision } of events) {
        const end = lastRevisions.get(stream) ?? reader.revision(stream)
        if (revision !== end + 1)
          throw new StoreDamaged(`${stream} has a gap before position ${position}`)
        lastRevisions.set(stream, revision)
      }
  }

  return {
    /** Appends records, each with higher positions than those before. @throws StoreDamaged */
    async append(records: readonly StoredRecord[]): Promise<void> {
      checkNames(records.flatMap(({ events }) => events.map(({ stream }) => stream)))
      const prepare = () => {
        checkRevisions(records)
        return () => {
          for (const { events, position, text } of records) {
            const { stream = '', revision = START } = events.at(-1) ?? {}
            void log.streams.put(streamKey(stream, revision), position)
            void log.records.put(position, text)
          }
        }
      }
      const bytes = records.reduce((sum, { text }) => sum + text.length, 0)
      await log.write({ bytes, alone: true, prepare })
    },

    /** Stores rows of a table, in place of any with their keys. @throws StoreDamaged */
    async put(table: RowTable, rows: readonly StoredRow[]): Promise<void> {
      checkNames(rows.map(({ key }) => key))
      const write = () => {
        for (const { key, value } of rows)
          if (table === 'keys') void log.keys.put(dataKeyKey(key), value)
          else if (table === 'installation') void log.installation.put(key, value)
          else void log[table].put(key, value.toString())
      }
      await log.write({ bytes: bytesOf(rows), alone: true, prepare: () => write })
    },

    close: log.close,
  }
}

export type RestoredLog = Awaited<ReturnType<typeof restoredLog>>
