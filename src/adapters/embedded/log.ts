import { mkdirSync } from 'node:fs'
import type { Position } from '../../domain/event.ts'
import type { Damage } from '../../ports/damage.ts'
import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { type Room, unlimited } from '../../ports/room.ts'
import { type CommitPace, commitPace } from './commit-pace.ts'
import { commitQueue, type QueuedWrite } from './commit-queue.ts'
import { markClosed, roomIn } from './data-file.ts'
import { type LogEnvironment, openEnvironment } from './environment.ts'
import { holdAlone } from './lock.ts'
import type { LostKeys } from './page-path.ts'

const maxNameBytes = 1_000
/** Room for the pages that a batch touches besides its own bytes. */
const spareBytes = 16 * 1024 * 1024
/** What a small batch takes on disk. */
const pagesBytes = 65_536
/** LMDB's codes for a file that is not as it was written. */
const damage = new Set([-30_797, -30_796, -30_794, -30_793])

type Options = {
  path: string
  /** Which commits the event loop waits for. */
  pace?: CommitPace
  room?: Room
}

/** Called after every commit of the log, and at its end. */
type Watcher = { committed(): void; failed(): void; closed(): void }

export type EventLog = Omit<LogEnvironment, 'root' | 'guard'> & {
  /** Resolves once the change is on disk. @throws StoreUnavailable, what `prepare` throws */
  write<T>(change: QueuedWrite<T>): Promise<T>
  /** @throws StoreUnavailable while the disk has no space for another change */
  requireRoom(): void
  /** Runs a read; all reads go through here. @throws StoreUnavailable when closed, StoreDamaged */
  look<T>(reading: () => T): T
  watch(watcher: Watcher): void
  /** What was found damaged since the start. */
  damage(): readonly Damage[]
  /** Takes note of an event whose bytes are damaged. */
  damagedAt(position: number): StoreDamaged
  close(): Promise<void>
}

/** Whether a name is fit to be a key. */
export const isName = (name: string): boolean => {
  const bytes = Buffer.byteLength(name)
  return bytes > 0 && bytes <= maxNameBytes && !name.includes('\0') && name.isWellFormed()
}

/** @throws TypeError */
export const assertName = (name: string): void => {
  if (!isName(name))
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

/** Runs a read. @throws StoreDamaged, StoreUnavailable where lmdb says so */
export const explaining = <T>(reading: () => T, file: string): T => {
  try {
    return reading()
  } catch (error) {
    throw explained(error, file)
  }
}

/** Damaged positions of which each is named; beyond that only the first of more are counted. */
const namedDamage = 1_000

const positionIn = (key: unknown): Position | undefined =>
  typeof key === 'number' ? (key as Position) : undefined

/** What was found damaged: each place once. */
export const damageFound = () => {
  const found = new Map<string, Damage>()
  const add = (damage: Damage) => {
    const key = `${damage.what} ${damage.from}`
    if (found.size < namedDamage) found.set(key, damage)
  }
  return {
    all: () => [...found.values()],
    add,
    /** A record is found by its last event: so events from behind the record before are lost. */
    addPage(error: StoreDamaged, lost?: LostKeys): void {
      const from = positionIn(lost?.from)
      const to = positionIn(lost?.below)
      const inRecords = lost?.name === 'records'
      add({
        store: 'events',
        what: error.message,
        ...(inRecords && from !== undefined && { from }),
        ...(inRecords && to !== undefined && { to }),
      })
    },
  }
}

/** What lmdb says besides that a commit which was not waited for has failed. */
const causeOf = async (error: unknown): Promise<never> => {
  const cause = error instanceof Error && 'commitError' in error ? error.commitError : undefined
  await cause
  throw error
}

/**
 * Opens the store in the directory `path`: the log of events, data keys and first answers, in one
 * LMDB environment. A commit is on disk before its callers are answered.
 * @throws StoreInUse, StoreFormat, StoreDamaged, StoreUnavailable
 */
export const openLog = async (options: Options): Promise<EventLog> => {
  const { path, pace = commitPace(), room = unlimited } = options
  mkdirSync(path, { recursive: true })
  const release = await holdAlone(path)
  try {
    const found = damageFound()
    return logOver(await openEnvironment(path, found.addPage), { release, found, pace, room })
  } catch (error) {
    release()
    throw explained(error, path)
  }
}

const logOver = (
  { root, guard, ...environment }: LogEnvironment,
  {
    release,
    found,
    pace,
    room,
  }: Required<Omit<Options, 'path'>> & {
    release(): void
    found: ReturnType<typeof damageFound>
  },
): EventLog => {
  const { file } = environment
  const watchers: Watcher[] = []
  const length = roomIn(file, () => {
    // A reader whose process was killed would keep pages from being used again for ever.
    root.readerCheck()
    const { lastPageNumber, pageSize } = root.getStats() as Record<string, number>
    return ((lastPageNumber ?? 0) + 1) * (pageSize ?? 0)
  })
  let closing: Promise<void> | undefined

  const assertOpen = () => {
    if (closing) throw new StoreUnavailable(`${file} is closed`)
  }

  const queue = commitQueue({
    commit(bytes, run) {
      const waits = pace.waits()
      let written = 0
      const write = () => {
        run()
        if (waits) guard.committing()
        written = performance.now()
      }
      room(2 * bytes + pagesBytes)
      guard.checkFree()
      length.reserve(2 * bytes + spareBytes)
      if (!waits) {
        guard.hold()
        return root
          .batch(write)
          .then(() => undefined, causeOf)
          .finally(guard.committed)
      }
      try {
        root.transactionSync(write)
      } finally {
        guard.committed()
      }
      pace.took(performance.now() - written, bytes)
    },
    committed: () => {
      for (const { committed } of watchers) committed()
    },
    failed: (cause) => {
      for (const { failed } of watchers) failed()
      return new StoreUnavailable(`${file} cannot be written: ${cause}`, { cause })
    },
    refused: (error) => explained(error, file),
  })

  const end = async () => {
    await queue.drain()
    for (const { closed } of watchers) closed()
    length.close()
    await root.close()
    guard.close()
    markClosed(file)
    release()
  }

  return {
    ...environment,
    damage: found.all,
    damagedAt(at) {
      const position = at as Position
      const what = `${file}: damaged at position ${at}`
      found.add({ store: 'events', what, from: position, to: position })
      return new StoreDamaged(what, { position })
    },
    requireRoom: () => room(pagesBytes),
    write(change) {
      assertOpen()
      return queue.add(change)
    },
    look(reading) {
      assertOpen()
      return explaining(reading, file)
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
