import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { embeddedBlobs } from '../../adapters/embedded/blobs.ts'
import { eventsOf } from '../../adapters/embedded/record.ts'
import { type RestoredLog, restoredLog } from '../../adapters/embedded/restored-log.ts'
import type { RowTable, StoredRecord, StoredRow } from '../../adapters/embedded/stored-log.ts'
import type { Position } from '../../domain/event.ts'
import { type RecordedEvent, START } from '../../ports/event-store.ts'
import { type Room, unlimited } from '../../ports/room.ts'
import { logFolder } from '../read-models.ts'
import type { Progress } from './back-up.ts'
import {
  type BackupReader,
  backupReader,
  type Counts,
  type Frame,
  noCounts,
  RestoreRefused,
} from './backup-file.ts'
import { type Erasures, readErasures } from './erasures.ts'
import { type HistoryRoot, historyRoots } from './history-roots.ts'
import { intoEmpty } from './into-empty.ts'
import { type NamedFiles, namedFiles, uploadOwner } from './named-files.ts'

export type Restored = Counts & {
  created_at: string
  position: Position
  roots: readonly HistoryRoot[]
  /** How much of the backup is erased, and the position up to which erasures are listed. */
  erased?: { upTo: number; keys: number; files: number }
}

type Options = {
  /** The backup. */
  file: string
  /** A folder that is empty or not there. */
  dataDir: string
  /** A list of what was erased after the backup. */
  erasures?: string | undefined
  room?: Room
  progress?: Progress
  signal?: AbortSignal
}

type Copying = {
  from: BackupReader
  folder: string
  room: Room
  counts: Counts
  erasures: Erasures | undefined
  /** Called with each piece of the backup. */
  step(): void
}

/** @throws RestoreRefused where the list is not one for the backup */
const checkList = (list: string, erasures: Erasures, { position, id }: Frame<'log'>): void => {
  if (erasures.log !== id) throw new RestoreRefused(`${list} lists the erasures of another log`)
  if (erasures.after > position)
    throw new RestoreRefused(
      `${list} begins after position ${erasures.after}: write one with --after ${position}`,
    )
}

const sealedUnder = /"\$sealed":"([^"]*)"/g

/**
 * Data keys without erased ones. The name of an erased key stays marked as destroyed where the log
 * has texts under it; a key without texts is left out.
 */
const unerased = (keys: ReadonlySet<string>) => {
  const used = new Set<string>()
  const destroyed = new Set<string>()
  return {
    destroyed: () => destroyed.size,
    /** Takes note of the keys of a record. */
    note(text: string): void {
      if (keys.size === 0) return
      for (const [, key = ''] of text.matchAll(sealedUnder)) if (keys.has(key)) used.add(key)
    },
    row(row: StoredRow): StoredRow[] {
      const { key, value } = row
      if (value.length === 0 || !keys.has(key)) return [row]
      destroyed.add(key)
      return used.has(key) ? [{ key, value: Buffer.alloc(0) }] : []
    },
  }
}

type Unerased = ReturnType<typeof unerased>

/** Whether all that a file belongs to is erased, by its name. */
const erasedFiles = (named: NamedFiles, erasures: Erasures | undefined) => {
  const uploads = new Set([...(erasures?.uploads ?? [])].map(uploadOwner))
  const owned = new Map<string, boolean>()
  for (const { name, owner, key } of named.all()) {
    const isGone = uploads.has(owner) || erasures?.keys.has(key) === true
    owned.set(name, isGone && owned.get(name) !== false)
  }
  return (name: string): boolean => owned.get(name) === true
}

const restoreRows = async (
  { from, counts, step }: Copying,
  { log, table, changed }: { log: RestoredLog; table: RowTable; changed?: Unerased['row'] },
): Promise<void> => {
  for await (const frames of from.all(table)) {
    step()
    const rows = frames.map(({ key, bytes: value }): StoredRow => ({ key, value }))
    await log.put(table, changed ? rows.flatMap(changed) : rows)
    counts[table] += rows.length
  }
}

const events = z
  .array(
    z.object({ id: z.string(), type: z.string(), stream: z.string(), revision: z.int().min(0) }),
  )
  .min(1)

const eventsIn = (text: string, position: number): readonly RecordedEvent[] => {
  try {
    const stored = eventsOf(text, position)
    return events.safeParse(stored).success ? stored : []
  } catch {
    return []
  }
}

/** @throws StoreDamaged */
const restoreRecords = async (
  { from, counts, step, erasures }: Copying,
  { log, upTo, keys }: { log: RestoredLog; upTo: Position; keys: Unerased },
) => {
  const [roots, named] = [historyRoots(), namedFiles()]
  let before = START
  const recordOf = ({ position, bytes }: Frame<'records'>): StoredRecord => {
    const record = { position, text: `${bytes}`, events: eventsIn(`${bytes}`, position) }
    const [first] = record.events
    if (!first || first.position <= before || position > upTo)
      throw from.damaged(`the record at position ${position}`)
    before = position
    return record
  }
  for await (const frames of from.all('records')) {
    step()
    const records = frames.map(recordOf)
    await log.append(records)
    for (const { text, events } of records) {
      keys.note(text)
      if (erasures) named.note(events)
      for (const event of events) roots.add(event)
      counts.events += events.length
    }
    counts.records += records.length
  }
  if (before !== upTo) throw from.damaged(`nothing is behind position ${before}`)
  return { roots: roots.all(), named }
}

const restoreLog = async (copying: Copying, list: string | undefined) => {
  const { from, folder, room, erasures } = copying
  const log = await restoredLog(join(folder, logFolder), room)
  try {
    const keys = unerased(erasures?.keys ?? new Set())
    await restoreRows(copying, { log, table: 'answers' })
    await restoreRows(copying, { log, table: 'undelivered' })
    const end = await from.take('log')
    if (list !== undefined && erasures) checkList(list, erasures, end)
    const { roots, named } = await restoreRecords(copying, { log, upTo: end.position, keys })
    // Both may be there again, where the master key was replaced during the backup.
    for (let before = -1; before !== copying.counts.keys; ) {
      before = copying.counts.keys
      await restoreRows(copying, { log, table: 'installation' })
      await restoreRows(copying, { log, table: 'keys', changed: keys.row })
    }
    return { position: end.position, roots, named, destroyed: keys.destroyed() }
  } finally {
    await log.close()
  }
}

/** The parts of a blob, of which the first is read already. @throws StoreDamaged */
async function* partsOf({ from, counts, step }: Copying, first: Frame<'blobs'>) {
  const isNext = ({ name }: Frame<'blobs'>) => name === first.name
  let part = 0
  for (
    let frame: typeof first | undefined = first;
    frame;
    frame = await from.find('blobs', isNext)
  ) {
    if (frame.part !== part++) throw from.damaged(`the parts of file ${first.name}`)
    step()
    counts.parts++
    yield frame.bytes
  }
}

/** Restores the blobs that are not erased; answers how many were. @throws StoreDamaged */
const restoreBlobs = async (copying: Copying, named: NamedFiles): Promise<number> => {
  const { from, folder, room, counts, erasures } = copying
  const blobs = await embeddedBlobs(join(folder, 'blobs'), room)
  const isErased = erasedFiles(named, erasures)
  let erased = 0
  for (let first = await from.find('blobs'); first; first = await from.find('blobs')) {
    const { name } = first
    const parts = partsOf(copying, first)
    if (isErased(name)) {
      for await (const _ of parts);
      erased++
    } else await blobs.put(parts, undefined, () => name)
    counts.blobs++
  }
  return erased
}

const restoreInto = async (copying: Copying, list: string | undefined): Promise<Restored> => {
  const { from, counts, erasures, step } = copying
  const { created_at } = await from.take('begin')
  const { position, roots, named, destroyed: keys } = await restoreLog(copying, list)
  const files = await restoreBlobs(copying, named)
  const end = await from.take('end')
  await from.assertOver()
  step()
  for (const [name, count] of Object.entries(end.counts))
    if (counts[name as keyof Counts] !== count) throw from.damaged(`${name} are lost`)
  const erased = erasures && { upTo: erasures.position, keys, files }
  return { ...counts, created_at, position, roots, ...(erased && { erased }) }
}

const opened = (file: string): Promise<FileHandle> =>
  open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new RestoreRefused(`${file} is not there`)
  })

/**
 * Restores a backup into an empty folder, verifies all checksums, and applies a list of erasures
 * before anything can read it: no destroyed key and no removed file remains.
 * @throws RestoreRefused, ErasuresUnreadable, TargetExists, StoreInUse, StoreDamaged,
 * StoreUnavailable
 */
export const restore = async (options: Options): Promise<Restored> => {
  const { file, dataDir, erasures: list } = options
  const { room = unlimited, progress = () => undefined } = options
  const { signal = new AbortController().signal } = options
  const backup = await opened(file)
  try {
    const { size } = await backup.stat()
    const from = await backupReader(backup, file)
    const erasures = list === undefined ? undefined : await readErasures(list)
    const step = () => {
      signal.throwIfAborted()
      progress('bytes', from.read(), size)
    }
    return await intoEmpty(dataDir, (folder) =>
      restoreInto({ from, folder, room, counts: noCounts(), erasures, step }, list),
    )
  } finally {
    await backup.close()
  }
}
