import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { StoreDamaged } from '../../ports/event-store.ts'
import { assertWhole, writeDurably } from './data-file.ts'
import { streamKey } from './index-key.ts'
import { checksummed } from './record.ts'

const format = '2'
/** Address space, not disk: the size to which the file may grow while it is open. */
const mapSize = 2 ** 40

/** The databases of the log, all in one file. */
export type LogEnvironment = {
  /** The data file, for messages. */
  file: string
  root: RootDatabase
  /** Records by the position of their last event; undefined where bytes are damaged. */
  records: Database<string | undefined, number>
  /** A stream and the revision of a record's last event (`streamKey`) to the key of the record. */
  streams: Database<number, [string, number]>
  /** By `dataKeyKey`. */
  keys: Database<Buffer, string>
  answers: Database<string | undefined, string>
}

const openDatabases = (path: string) => {
  const root = open({ path, noSubdir: false, mapSize, maxDbs: 8, overlappingSync: false })
  const text = { encoder: checksummed, cache: false } as const
  return {
    root,
    records: root.openDB<string | undefined, number>({ name: 'records', ...text }),
    streams: root.openDB<number, [string, number]>({ name: 'streams', encoding: 'ordered-binary' }),
    keys: root.openDB<Buffer, string>({ name: 'keys', encoding: 'binary' }),
    answers: root.openDB<string | undefined, string>({ name: 'answers', ...text }),
  }
}

type Databases = ReturnType<typeof openDatabases>

/**
 * Checks that the last record is undamaged and in its stream, and that every record is in a stream.
 */
const assertConsistent = ({ records, streams }: Databases, file: string): void => {
  const [tail] = records.getRange({ reverse: true, limit: 1 })
  const count = (db: Database) => (db.getStats() as { entryCount: number }).entryCount
  if (count(records) !== count(streams))
    throw new StoreDamaged(`${file}: ${count(records)} records, ${count(streams)} in streams`)
  if (!tail) return
  if (tail.value === undefined) throw new StoreDamaged(`${file}: damaged at position ${tail.key}`)
  const [stream, revision, , events]: [string, number, unknown, unknown[]] = JSON.parse(tail.value)
  if (streams.get(streamKey(stream, revision + events.length - 1)) !== tail.key)
    throw new StoreDamaged(`${file}: position ${tail.key} is not in its stream`)
}

/**
 * Opens the store in a directory, or creates it.
 * @throws StoreDamaged when the file is not whole, is in another format, or its end is inconsistent
 */
export const openEnvironment = async (path: string): Promise<LogEnvironment> => {
  const file = join(path, 'data.mdb')
  const formatFile = join(path, 'format')
  const known = existsSync(formatFile)
  if (known) {
    const found = readFileSync(formatFile, 'utf8').trim()
    if (found !== format) throw new StoreDamaged(`${formatFile} says ${found}, not ${format}`)
    await assertWhole(file)
  }
  const databases = openDatabases(path)
  try {
    assertConsistent(databases, file)
    if (!known) writeDurably(path, 'format', format)
  } catch (error) {
    await databases.root.close()
    throw error
  }
  return { file, ...databases }
}
