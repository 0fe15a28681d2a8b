import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { StoreDamaged } from '../../ports/event-store.ts'
import { takeClosedMark } from './data-file.ts'
import { isInFormat, noteFormat } from './folder-format.ts'
import { streamKey } from './index-key.ts'
import { type CheckOptions, checkIntegrity } from './integrity-check.ts'
import { keyEncoder, positionEncoder, storedPosition } from './key-encoder.ts'
import { checksummed, lastEventOf } from './record.ts'

const format = 2
/** Address space, not disk: the size to which the file may grow while it is open. */
const mapSize = 2 ** 40

/** The databases of the log, all in one file. */
export type LogEnvironment = {
  /** The data file, for messages. */
  file: string
  root: RootDatabase
  /**
   * Records by the position of their last event; undefined where bytes are damaged. Written as
   * text, or encoded.
   */
  records: Database<string | undefined, number>
  /** A stream and the revision of a record's last event (`streamKey`) to the key of the record. */
  streams: Database<number, [string, number]>
  /** By `dataKeyKey`. */
  keys: Database<Buffer, string>
  /** The record that names the accepted master keys, under `keys`. */
  installation: Database<Buffer, string>
  answers: Database<string | undefined, string>
  /** By the run's id. */
  undelivered: Database<string | undefined, string>
}

/** The store in a directory; `readOnly` where another process has it open. */
export const environmentIn = (path: string, readOnly: boolean): LogEnvironment => {
  const root = open({
    path,
    noSubdir: false,
    mapSize,
    maxDbs: 8,
    overlappingSync: false,
    eventTurnBatching: false,
    readOnly,
  })
  const text = { encoder: checksummed, keyEncoder, cache: false } as const
  const binary = { encoding: 'binary', keyEncoder } as const
  const textAtPosition = { ...text, keyEncoder: positionEncoder } as const
  const position = { encoder: storedPosition, keyEncoder, cache: false } as const
  return {
    file: join(path, 'data.mdb'),
    root,
    records: root.openDB('records', textAtPosition),
    streams: root.openDB('streams', position),
    keys: root.openDB('keys', binary),
    installation: root.openDB('installation', binary),
    answers: root.openDB('answers', text),
    undelivered: root.openDB('undelivered', text),
  }
}

const entriesIn = (database: Pick<RootDatabase, 'getStats'>): number =>
  (database.getStats() as { entryCount: number }).entryCount

/**
 * Checks that the last record is undamaged and in its stream, and that every record is in a stream.
 */
const assertConsistent = ({ records, streams, file }: LogEnvironment): void => {
  const [tail] = records.getRange({ reverse: true, limit: 1 })
  const [all, placed] = [entriesIn(records), entriesIn(streams)]
  if (all !== placed) throw new StoreDamaged(`${file}: ${all} records, ${placed} in streams`)
  if (!tail) return
  if (tail.value === undefined) throw new StoreDamaged(`${file}: damaged at position ${tail.key}`)
  const { stream, revision } = lastEventOf(tail.value)
  if (streams.get(streamKey(stream, revision)) !== tail.key)
    throw new StoreDamaged(`${file}: position ${tail.key} is not in its stream`)
}

/**
 * Opens the store in a directory, or creates it. A file that was not closed is checked first.
 * @throws StoreFormat, and StoreDamaged when the file is not whole or its end is inconsistent
 */
export const openEnvironment = async (
  check: Omit<CheckOptions, 'kind'>,
): Promise<LogEnvironment & { stopCheck(): void }> => {
  const { path } = check
  const file = join(path, 'data.mdb')
  const known = isInFormat(path, format)
  if (known && !existsSync(file)) throw new StoreDamaged(`${file} is missing`)
  const isUnchecked = known && !takeClosedMark(file)
  const stopCheck = isUnchecked ? await checkIntegrity({ ...check, kind: 'log' }) : () => undefined
  let environment: LogEnvironment | undefined
  try {
    environment = environmentIn(path, false)
    assertConsistent(environment)
    if (!known) noteFormat(path, format)
    return { ...environment, stopCheck }
  } catch (error) {
    stopCheck()
    await environment?.root.close()
    throw error
  }
}

/**
 * The databases in a folder, for reading in another process than its server's; undefined: there are
 * none. @throws StoreFormat, StoreDamaged
 */
export const readDatabases = (path: string): LogEnvironment | undefined =>
  isInFormat(path, format) ? environmentIn(path, true) : undefined
