import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { blobNames, blobPath } from '../../adapters/embedded/blobs.ts'
import { openStoredLog, type RowTable, type StoredLog } from '../../adapters/embedded/stored-log.ts'
import type { Position } from '../../domain/event.ts'
import { START } from '../../ports/event-store.ts'
import { onDisk, type Room, unlimited } from '../../ports/room.ts'
import { isoTime } from '../../support/iso-time.ts'
import { logFolder } from '../read-models.ts'
import {
  type BackupWriter,
  backupWriter,
  type Counts,
  makeFile,
  noCounts,
  partBytes,
} from './backup-file.ts'
import { type NamedFile, namedFiles } from './named-files.ts'

/** `done` of `total` events, files or bytes. */
export type Progress = (what: 'events' | 'files' | 'bytes', done: number, total: number) => void

/**
 * Runs a work with the log of a data folder, open for reading; its server may be running.
 * @throws NoLog, StoreFormat, StoreDamaged
 */
export const withLog = async <T>(dataDir: string, work: (log: StoredLog) => Promise<T>) => {
  const log = openStoredLog(join(dataDir, logFolder))
  try {
    return await work(log)
  } finally {
    await log.close()
  }
}

type Copying = {
  log: StoredLog
  to: BackupWriter
  counts: Counts
  progress: Progress
  /** The user wants no backup any more. */
  signal: AbortSignal
}

const copyRows = async ({ log, to, counts, signal }: Copying, table: RowTable): Promise<void> => {
  for await (const rows of log.rows(table)) {
    signal.throwIfAborted()
    for (const { key, value } of rows) to.add({ kind: table, key }, value)
    await to.flush()
    counts[table] += rows.length
  }
}

/** Copies the log up to its end; answers that position, and the files that its events name. */
const copyLog = async ({ log, to, counts, progress, signal }: Copying) => {
  const position = log.head()
  const named = namedFiles()
  to.add({ kind: 'log', position, id: log.id() })
  for await (const records of log.records(START, position)) {
    signal.throwIfAborted()
    for (const { position, text, events } of records) {
      to.add({ kind: 'records', position }, Buffer.from(text))
      named.note(events)
      counts.events += events.length
    }
    await to.flush()
    counts.records += records.length
    progress('events', (records.at(-1)?.position ?? START) + 1, position + 1)
  }
  return { position, named }
}

const masterKeysIn = async (log: StoredLog): Promise<string> => {
  const keys: string[] = []
  for await (const rows of log.rows('installation'))
    for (const { value } of rows) keys.push(value.toString('base64'))
  return keys.join()
}

/**
 * Copies data keys with the record of the master keys that open them. Where the master key was
 * replaced meanwhile, both are copied again, and replace those before.
 */
const copyKeys = async (copying: Copying): Promise<void> => {
  for (let before: string | undefined, now = ''; before !== now; ) {
    before = await masterKeysIn(copying.log)
    await copyRows(copying, 'installation')
    await copyRows(copying, 'keys')
    now = await masterKeysIn(copying.log)
  }
}

/** The bytes of a file in parts, at least one. */
async function* partsOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(partBytes)
  let first = true
  for (;;) {
    let filled = 0
    for (let read = -1; read !== 0 && filled < partBytes; filled += read)
      read = (await onDisk('a blob cannot be read', () => file.read(buffer, filled))).bytesRead
    if (filled > 0 || first) yield buffer.subarray(0, filled)
    if (filled < partBytes) return
    first = false
  }
}

/** Copies a blob; false where it was removed meanwhile. */
const copyBlob = async ({ to, counts, signal }: Copying, name: string, path: string) => {
  const opening = () =>
    open(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  const file = await onDisk(`${path} cannot be read`, opening)
  if (!file) return false
  try {
    let part = 0
    for await (const bytes of partsOf(file)) {
      signal.throwIfAborted()
      to.add({ kind: 'blobs', name, part: part++ }, bytes)
      await to.flush()
      counts.parts++
    }
  } finally {
    await file.close()
  }
  counts.blobs++
  return true
}

/** Copies all blobs in a folder; answers which are in the backup. */
const copyBlobs = async (copying: Copying, folder: string): Promise<ReadonlySet<string>> => {
  const copied = new Set<string>()
  for await (const name of blobNames(folder)) copied.add(name)
  const { size } = copied
  let done = 0
  for (const name of [...copied]) {
    if (!(await copyBlob(copying, name, blobPath(folder, name)))) copied.delete(name)
    copying.progress('files', ++done, size)
  }
  return copied
}

/** The files that the log names and the backup lacks, unless their data keys are destroyed. */
const missingFiles = (log: StoredLog, named: Iterable<NamedFile>, copied: ReadonlySet<string>) =>
  [...named]
    .filter(({ name, key }) => !copied.has(name) && !log.isDestroyed(key))
    .toSorted((a, b) => a.position - b.position)

export type Backup = Counts & {
  position: Position
  missing: readonly NamedFile[]
}

type Options = {
  dataDir: string
  /** Where the backup is made. There is no such file yet. */
  file: string
  /** When it is begun, in milliseconds since 1970. */
  now: number
  room?: Room
  progress?: Progress
  signal?: AbortSignal
}

/**
 * Backs up an embedded store, whose server may be running: stored answers, the log, then data keys
 * (each event's key is stored before the event), then blobs. All that was acknowledged before is in
 * it. Erasures during the backup are in the list of erasures after its position.
 * @throws NoLog, TargetExists, StoreFormat, StoreDamaged, StoreUnavailable
 */
export const backUp = ({ dataDir, file, now, ...options }: Options): Promise<Backup> => {
  const { room = unlimited, progress = () => undefined } = options
  const { signal = new AbortController().signal } = options
  return makeFile(file, (handle) =>
    withLog(dataDir, async (log) => {
      const to = backupWriter(handle, room)
      const counts = noCounts()
      const copying = { log, to, counts, progress, signal }
      to.add({ kind: 'begin', created_at: isoTime(now) })
      await copyRows(copying, 'answers')
      await copyRows(copying, 'undelivered')
      const { position, named } = await copyLog(copying)
      await copyKeys(copying)
      const copied = await copyBlobs(copying, join(dataDir, 'blobs'))
      to.add({ kind: 'end', counts })
      await to.flush()
      return { ...counts, position, missing: missingFiles(log, named.all(), copied) }
    }),
  )
}
