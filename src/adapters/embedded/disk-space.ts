import { statfsSync, statSync } from 'node:fs'
import { StoreUnavailable } from '../../ports/event-store.ts'
import type { Log } from '../../ports/log.ts'
import type { Room } from '../../ports/room.ts'

/** The space of a file system, in bytes. */
type Space = { free: number; total: number }

/** What is written to a disk. */
export type DiskUse = 'files' | 'events' | 'rebuilds' | 'views'

/**
 * The multiple of the reserve below which a use is refused: files give way to events, and these to
 * the views, which must show every event that was stored.
 */
const shares: Readonly<Record<DiskUse, number>> = { files: 2, events: 1, rebuilds: 1, views: 0.5 }

const megabyte = 1_048_576
const least = 8 * megabyte
const most = 256 * megabyte

/** A look at a file system is good for so long, in milliseconds, and for so many bytes. */
const lookMs = 5
const lookBytes = megabyte

/** A use that was refused is allowed again with this share more than it needs. */
const margin = 1 / 8

const spaceOf = (path: string): Space => {
  const { bavail, blocks, bsize } = statfsSync(path)
  return { free: bavail * bsize, total: blocks * bsize }
}

const deviceOf = (path: string): number => statSync(path).dev

/** Unless it is configured: an eighth of the file system, between 8 MiB and 256 MiB. */
const usualReserve = ({ total }: Space): number => Math.min(most, Math.max(least, total / 8))

export type DiskState = {
  /** Of the file system with the least. */
  free: number
  reserve: number
  /** What is refused now. */
  refused: readonly DiskUse[]
}

type Options = {
  /** It exists. */
  folder: string
  /** In bytes; an eighth of the file system otherwise. */
  reserve?: number | undefined
  log: Log
  /** Asks the system, for a folder that exists. */
  spaceOf?(path: string): Space
  deviceOf?(path: string): number
  /** A monotonic clock, in milliseconds. */
  now?(): number
}

type FileSystem = {
  path: string
  free: number
  /** When it was looked at, and what was written since. */
  at: number
  written: number
  refused: Set<DiskUse>
}

/**
 * Keeps a reserve on every disk that is written to, since lmdb, the file system and the next start
 * need space too. All writers of a file system share its state. If the system does not report free
 * space, nothing is refused.
 */
export const openDiskSpace = (options: Options) => {
  const { folder, log, now = () => performance.now() } = options
  const system = { spaceOf, deviceOf, ...options }
  const reserve = options.reserve ?? usualReserve(system.spaceOf(folder))
  const fileSystems = new Map<number, FileSystem>()

  const look = (fileSystem: FileSystem): void => {
    fileSystem.at = now()
    fileSystem.written = 0
    try {
      fileSystem.free = system.spaceOf(fileSystem.path).free
    } catch {
      fileSystem.free = Number.POSITIVE_INFINITY
    }
  }

  const fileSystemOf = (path: string): FileSystem => {
    const device = system.deviceOf(path)
    const known = fileSystems.get(device)
    if (known) return known
    const added = { path, free: 0, at: 0, written: 0, refused: new Set<DiskUse>() }
    look(added)
    fileSystems.set(device, added)
    return added
  }

  /** Whether a use is refused, whatever it writes. Logs a change. */
  const isRefused = (fileSystem: FileSystem, use: DiskUse): boolean => {
    const { refused, path } = fileSystem
    const was = refused.has(use)
    const needed = reserve * shares[use] * (was ? 1 + margin : 1)
    const is = fileSystem.free - fileSystem.written < needed
    if (is === was) return is
    const fields = { path, use, free: fileSystem.free, reserve }
    if (is) {
      refused.add(use)
      log.error(fields, 'the disk is nearly full: writes are refused until there is space')
    } else {
      refused.delete(use)
      log.info(fields, 'the disk has space again: writes go on')
    }
    return is
  }

  fileSystemOf(folder)

  return {
    reserve,

    /** Where a folder is written to; the folder exists once that is asked. */
    room(use: DiskUse, path: string): Room {
      let fileSystem: FileSystem | undefined
      return (bytes) => {
        fileSystem ??= fileSystemOf(path)
        if (fileSystem.written + bytes > lookBytes || now() - fileSystem.at >= lookMs)
          look(fileSystem)
        const fits = fileSystem.free - fileSystem.written - bytes >= reserve * shares[use]
        if (isRefused(fileSystem, use) || !fits)
          throw new StoreUnavailable(
            `${path}: ${fileSystem.free} bytes are free, too few to write ${use}`,
          )
        fileSystem.written += bytes
      }
    },

    /** As it is now. */
    state(): DiskState {
      const all = [...fileSystems.values()]
      for (const fileSystem of all) {
        look(fileSystem)
        for (const use of [...fileSystem.refused]) isRefused(fileSystem, use)
      }
      return {
        free: Math.min(...all.map(({ free }) => free)),
        reserve,
        refused: [...new Set(all.flatMap(({ refused }) => [...refused]))],
      }
    },
  }
}

export type OpenDiskSpace = ReturnType<typeof openDiskSpace>
