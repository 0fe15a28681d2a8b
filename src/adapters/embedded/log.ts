import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open } from 'lmdb'
import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { type Change, commitQueue } from './commit-queue.ts'
import { assertWhole, roomIn, writeDurably } from './data-file.ts'
import { holdAlone } from './lock.ts'
import { checked } from './record.ts'

const format = '1'
const maxNameBytes = 1_000
/** Address space, not disk: what the file may grow to without being opened again. */
const mapSize = 2 ** 40
/** Room for the pages that a batch touches besides its own bytes. */
const spareBytes = 16 * 1024 * 1024
/** LMDB's codes for a file that is not as it was written. */
const damage = new Set([-30_797, -30_796, -30_794, -30_793])

/** Told about every commit of the log, and about its end. */
export type Watcher = { committed(): void; failed(): void; closed(): void }

export type Log = {
  /** The data file, for messages. */
  file: string
  /** Records by the position of their last event; undefined where bytes are damaged. */
  records: Database<string | undefined, number>
  /** [stream, revision of a record's last event] to the key of the record. */
  streams: Database<number, [string, number]>
  keys: Database<Buffer, string>
  answers: Database<string | undefined, string>
  /** Resolves once the change is on disk. @throws StoreUnavailable, what `prepare` throws */
  write<T>(change: Change<T>): Promise<T>
  /** Every reading goes through here. @throws StoreUnavailable when closed, StoreDamaged */
  look<T>(reading: () => T): T
  watch(watcher: Watcher): void
  close(): Promise<void>
}

/** A name fit to be a key. @throws TypeError */
export const assertName = (name: string): void => {
  const bytes = Buffer.byteLength(name)
  if (bytes === 0 || bytes > maxNameBytes || /[\0\p{Surrogate}]/u.test(name))
    throw new TypeError(`not a name of 1 to ${maxNameBytes} bytes: ${name.slice(0, 60)}`)
}

const explained = (cause: unknown, file: string): unknown => {
  if (!(cause instanceof Error) || !('code' in cause) || typeof cause.code !== 'number')
    return cause
  const message = `${file}: ${cause.message}`
  return damage.has(cause.code)
    ? new StoreDamaged(message, { cause })
    : new StoreUnavailable(message, { cause })
}

const openEnvironment = (path: string) => {
  const root = open({ path, noSubdir: false, mapSize, maxDbs: 8, overlappingSync: false })
  const text = { encoder: checked, cache: false } as const
  return {
    root,
    records: root.openDB<string | undefined, number>({ name: 'records', ...text }),
    streams: root.openDB<number, [string, number]>({ name: 'streams', encoding: 'ordered-binary' }),
    keys: root.openDB<Buffer, string>({ name: 'keys', encoding: 'binary' }),
    answers: root.openDB<string | undefined, string>({ name: 'answers', ...text }),
  }
}

type Environment = ReturnType<typeof openEnvironment>

/** The last record is sound and is where its stream says; every record is in some stream. */
const assertConsistent = ({ records, streams }: Environment, file: string): void => {
  const [tail] = records.getRange({ reverse: true, limit: 1 })
  const count = (db: Database) => (db.getStats() as { entryCount: number }).entryCount
  if (count(records) !== count(streams))
    throw new StoreDamaged(`${file}: ${count(records)} records, ${count(streams)} in streams`)
  if (!tail) return
  if (tail.value === undefined) throw new StoreDamaged(`${file}: damaged at position ${tail.key}`)
  const [stream, revision, , events]: [string, number, unknown, unknown[]] = JSON.parse(tail.value)
  if (streams.get([stream, revision + events.length - 1]) !== tail.key)
    throw new StoreDamaged(`${file}: position ${tail.key} is not in its stream`)
}

const openSound = async (path: string) => {
  const file = join(path, 'data.mdb')
  const formatFile = join(path, 'format')
  const known = existsSync(formatFile)
  if (known) {
    const found = readFileSync(formatFile, 'utf8').trim()
    if (found !== format) throw new StoreDamaged(`${formatFile} says ${found}, not ${format}`)
    assertWhole(file)
  }
  const environment = openEnvironment(path)
  try {
    assertConsistent(environment, file)
    if (!known) writeDurably(path, 'format', format)
  } catch (error) {
    await environment.root.close()
    throw error
  }
  return { file, environment }
}

/**
 * Opens the one store of this process in the directory `path`: the log of events, data keys and
 * first answers, in one LMDB environment, each commit on disk before anyone is told.
 * @throws StoreInUse, StoreDamaged, StoreUnavailable
 */
export const openLog = async ({ path }: { path: string }): Promise<Log> => {
  mkdirSync(path, { recursive: true })
  const release = await holdAlone(path)
  try {
    return logOver(await openSound(path), release)
  } catch (error) {
    release()
    throw explained(error, path)
  }
}

type Sound = { file: string; environment: Environment }

const logOver = ({ file, environment }: Sound, release: () => void): Log => {
  const { root, records, streams, keys, answers } = environment
  const watchers: Watcher[] = []
  const room = roomIn(file, () => {
    const { lastPageNumber, pageSize } = root.getStats() as Record<string, number>
    return ((lastPageNumber ?? 0) + 1) * (pageSize ?? 0)
  })
  let closing: Promise<void> | undefined

  const assertOpen = () => {
    if (closing) throw new StoreUnavailable(`${file} is closed`)
  }

  const queue = commitQueue({
    commit(bytes, write) {
      room.reserve(2 * bytes + spareBytes)
      root.transactionSync(write)
    },
    committed: () => {
      for (const { committed } of watchers) committed()
    },
    failed: (cause) => {
      for (const { failed } of watchers) failed()
      return new StoreUnavailable(`${file} cannot be written: ${cause}`, { cause })
    },
  })

  const end = async () => {
    queue.drain()
    for (const { closed } of watchers) closed()
    room.close()
    await root.close()
    release()
  }

  return {
    file,
    records,
    streams,
    keys,
    answers,
    async write(change) {
      assertOpen()
      return queue.add(change)
    },
    look(reading) {
      assertOpen()
      try {
        return reading()
      } catch (error) {
        throw explained(error, file)
      }
    },
    watch: (watcher) => {
      watchers.push(watcher)
    },
    close: () => {
      closing ??= end()
      return closing
    },
  }
}
