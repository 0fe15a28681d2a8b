import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Damage } from '../../ports/damage.ts'
import { StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { silent } from '../../ports/log.ts'
import { type Room, unlimited } from '../../ports/room.ts'
import { type CommitPace, commitPace } from './commit-pace.ts'
import { commitQueue, type QueuedWrite } from './commit-queue.ts'
import { type DamageFound, damageFound } from './damage-found.ts'
import { markClosed, roomIn } from './data-file.ts'
import { type LogEnvironment, openEnvironment } from './environment.ts'
import type { CheckOptions } from './integrity-check.ts'
import { explained } from './lmdb-errors.ts'
import { holdAlone } from './lock.ts'

const maxNameBytes = 1_000
/** Room for the pages that a batch touches besides its own bytes. */
const spareBytes = 16 * 1024 * 1024
/** What a small batch takes on disk. */
const pagesBytes = 65_536
/** So many damaged values are named in the process's log. */
const loggedDamage = 20

type Options = {
  path: string
  /** Which commits the event loop waits for. */
  pace?: CommitPace
  room?: Room
} & Partial<Pick<CheckOptions, 'log' | 'onFault' | 'patienceMs'>>

/** Called after every commit of the log, and at its end. */
type Watcher = { committed(): void; failed(): void; closed(): void }

export type EventLog = Omit<LogEnvironment, 'root'> & {
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
  const { log = silent, patienceMs } = options
  mkdirSync(path, { recursive: true })
  const release = await holdAlone(path)
  try {
    const damage = damageFound(join(path, 'data.mdb'))
    const onValue: CheckOptions['onValue'] = ({ database, position }) => {
      const err = damage.at(position, database)
      if (damage.all().length <= loggedDamage) log.error({ err }, 'a stored value is damaged')
    }
    const onFault = (error: StoreDamaged) => {
      damage.addFault(error)
      options.onFault?.(error)
    }
    const environment = await openEnvironment({ path, log, onValue, onFault, patienceMs })
    return logOver(environment, { release, damage, pace, room })
  } catch (error) {
    release()
    throw explained(error, path)
  }
}

const logOver = (
  { root, stopCheck, ...environment }: LogEnvironment & { stopCheck(): void },
  {
    release,
    damage,
    pace,
    room,
  }: Required<Pick<Options, 'pace' | 'room'>> & { release(): void; damage: DamageFound },
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

  /** An error in our words; notes damage that lmdb has met. */
  const noted = (error: unknown): unknown => {
    const cause = damage.explained(error)
    // A reading transaction of lmdb that has met damage reads nothing more.
    if (cause !== error) root.resetReadTxn()
    return cause
  }

  const queue = commitQueue({
    commit(bytes, run) {
      const isSynchronous = pace.waits()
      room(2 * bytes + pagesBytes)
      length.reserve(2 * bytes + spareBytes)
      if (!isSynchronous) return root.batch(run).then(() => undefined, causeOf)
      let writtenAt = 0
      root.transactionSync(() => {
        run()
        writtenAt = performance.now()
      })
      pace.took(performance.now() - writtenAt, bytes)
    },
    committed: () => {
      for (const { committed } of watchers) committed()
    },
    failed: (cause) => {
      for (const { failed } of watchers) failed()
      const error = noted(cause)
      if (error instanceof StoreDamaged) return error
      return new StoreUnavailable(`${file} cannot be written: ${cause}`, { cause })
    },
    refused: noted,
  })

  const end = async () => {
    await queue.drain()
    for (const { closed } of watchers) closed()
    stopCheck()
    length.close()
    await root.close()
    if (!damage.isFaulty()) markClosed(file)
    release()
  }

  return {
    ...environment,
    damage: damage.all,
    damagedAt: damage.at,
    requireRoom: () => room(pagesBytes),
    write(change) {
      assertOpen()
      return queue.add(change)
    },
    look(reading) {
      assertOpen()
      try {
        return reading()
      } catch (error) {
        throw noted(error)
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
