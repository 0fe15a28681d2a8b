import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { StoreDamaged } from '../../ports/event-store.ts'
import { assertWhole } from './data-file.ts'
import { isInFormat, noteFormat } from './folder-format.ts'
import { type Guarded, guarded } from './guarded.ts'
import { streamKey } from './index-key.ts'
import { keyEncoder } from './key-encoder.ts'
import { type PageGuard, pageGuard } from './page-guard.ts'
import { checksummed } from './record.ts'

type Lost = Parameters<typeof pageGuard>[1]

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
  records: Guarded<string | undefined, number, string | Buffer>
  /** A stream and the revision of a record's last event (`streamKey`) to the key of the record. */
  streams: Guarded<number, [string, number]>
  /** By `dataKeyKey`. */
  keys: Guarded<Buffer, string>
  /** The record that names the accepted master keys, under `keys`. */
  installation: Guarded<Buffer, string>
  answers: Guarded<string | undefined, string>
  /** By the run's id. */
  undelivered: Guarded<string | undefined, string>
  guard: PageGuard
}

type Opening = { path: string; readOnly?: boolean }

/** The databases of the log in a folder, as lmdb has them. */
export const openDatabases = ({ path, readOnly = false }: Opening) => {
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
  const ordered = { encoding: 'ordered-binary', keyEncoder } as const
  const binary = { encoding: 'binary', keyEncoder } as const
  return {
    root,
    records: root.openDB<string | undefined, number>({ name: 'records', ...text }),
    streams: root.openDB<number, [string, number]>({ name: 'streams', ...ordered }),
    keys: root.openDB<Buffer, string>({ name: 'keys', ...binary }),
    installation: root.openDB<Buffer, string>({ name: 'installation', ...binary }),
    answers: root.openDB<string | undefined, string>({ name: 'answers', ...text }),
    undelivered: root.openDB<string | undefined, string>({ name: 'undelivered', ...text }),
  }
}

type Guarding = Opening & { file: string; lost: Lost }

const openGuarded = ({ file, lost, ...opening }: Guarding, before?: PageGuard) => {
  const { root, records, streams, keys, installation, answers, undelivered } =
    openDatabases(opening)
  const guard = before ?? pageGuard(file, lost)
  guard.forget()
  return {
    root,
    guard,
    records: guarded<string | undefined, number, string | Buffer>(records, 'records', guard),
    streams: guarded(streams, 'streams', guard),
    keys: guarded(keys, 'keys', guard),
    installation: guarded(installation, 'installation', guard),
    answers: guarded(answers, 'answers', guard),
    undelivered: guarded(undelivered, 'undelivered', guard),
  }
}

type Databases = ReturnType<typeof openGuarded>

/**
 * Checks that the last record is undamaged and in its stream, and that every record is in a stream.
 */
const assertConsistent = ({ records, streams }: Databases, file: string): void => {
  const [tail] = records.getRange({ reverse: true, limit: 1 })
  const [all, placed] = [records.count(), streams.count()]
  if (all !== placed) throw new StoreDamaged(`${file}: ${all} records, ${placed} in streams`)
  if (!tail) return
  if (tail.value === undefined) throw new StoreDamaged(`${file}: damaged at position ${tail.key}`)
  const [stream, revision, , events]: [string, number, unknown, unknown[]] = JSON.parse(tail.value)
  if (streams.get(streamKey(stream, revision + events.length - 1)) !== tail.key)
    throw new StoreDamaged(`${file}: position ${tail.key} is not in its stream`)
}

/**
 * Opens the store in a directory, or creates it. `lost` is told of every damaged page that is met,
 * from then on.
 * @throws StoreFormat, and StoreDamaged when the file is not whole or its end is inconsistent
 */
export const openEnvironment = async (path: string, lost: Lost): Promise<LogEnvironment> => {
  const file = join(path, 'data.mdb')
  const known = isInFormat(path, format)
  let guard: PageGuard | undefined
  if (known) {
    await assertWhole(file)
    guard = pageGuard(file, lost)
  }
  let databases: Databases | undefined
  try {
    guard?.checkHead()
    databases = openGuarded({ path, file, lost }, guard)
    assertConsistent(databases, file)
    if (!known) noteFormat(path, format)
    return { file, ...databases }
  } catch (error) {
    await databases?.root.close()
    guard?.close()
    throw error
  }
}

/**
 * The databases in a folder, for reading in another process than its server's; undefined: there are
 * none. @throws StoreFormat, StoreDamaged
 */
export const readDatabases = (path: string) =>
  isInFormat(path, format) ? openDatabases({ path, readOnly: true }) : undefined

/**
 * The store that this process has open already, for reading in another of its threads. Call
 * `guard.forget` before each read: what the other thread commits is not told here.
 */
export const readEnvironment = (path: string, lost: Lost): LogEnvironment => {
  const file = join(path, 'data.mdb')
  return { file, ...openGuarded({ path, file, lost, readOnly: true }) }
}
