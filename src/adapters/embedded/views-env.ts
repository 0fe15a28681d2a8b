import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, open as openFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { z } from 'zod'
import { StoreDamaged } from '../../ports/event-store.ts'
import { silent } from '../../ports/log.ts'
import { type Room, unlimited } from '../../ports/room.ts'
import { bootId } from './boot-id.ts'
import { type ClosedFile, closedAs, closedFile } from './data-file.ts'
import { type CheckOptions, checkIntegrity, removePending } from './integrity-check.ts'

/** Raised when the stored form changes: older views are dropped and folded again. */
const layout = 4

/**
 * How the environment was left: open in a process, in a run of the machine; or closed. Releases up
 * to 0.1.0 noted no hash.
 */
const mark = z.union([
  z.object({ layout: z.number(), boot: z.string() }),
  closedFile.partial({ head: true }).extend({ layout: z.number() }),
])
type Mark = z.infer<typeof mark>

/** Asked before views that are read are written, and before those that are rebuilt beside them. */
export type ViewsRooms = { views: Room; rebuilds: Room }

/**
 * The environment of the views and snapshots, apart from the event log. Its commits are not
 * fsynced: killing the process loses whole commits or nothing, but after a power cut the file may
 * hold anything. Such a file is not opened; the views start empty and are folded again.
 */
export type ViewsEnv = {
  readonly rooms: ViewsRooms
  /** Another one after each `renew`. */
  readonly root: RootDatabase
  /** Whether the file is being renewed: nothing may be read or written. */
  readonly renewing: boolean
  /** The listener is called for damage that is met outside the views. */
  onDamage(listener: (error: StoreDamaged) => void): void
  /** Something in the file is damaged. */
  damaged(error: StoreDamaged): void
  /** Drops the file, whatever is in it, and opens an empty one. */
  renew(): Promise<void>
  /** Why the old content was dropped, if it was. */
  startedEmpty: string | undefined
  /** Writes everything to disk, and marks it as closed. */
  close(): Promise<void>
}

const synced = async (path: string, content?: string): Promise<void> => {
  const file = await openFile(path, content === undefined ? 'r' : 'w')
  try {
    if (content !== undefined) await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

const readMark = (path: string): Mark | undefined => {
  try {
    return mark.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** lmdb ends the process on a file that it did not write, so the file is compared before. */
const damageOf = (data: string, left: Mark | undefined, boot: string | undefined) => {
  if (!existsSync(data)) return undefined
  if (!left) return 'nothing says how it was left'
  if (left.layout !== layout)
    return `it was written by another release, in format ${left.layout} and not ${layout}`
  if ('boot' in left)
    return left.boot === boot ? undefined : 'the machine went down while it was in use'
  const { bytes, head } = closedAs(data)
  if (bytes < left.bytes) return 'it was cut short'
  return head === (left.head ?? head) ? undefined : 'it was changed after it was closed'
}

type Options = {
  path: string
  boot?: string | undefined
  rooms?: ViewsRooms
} & Partial<Pick<CheckOptions, 'log' | 'patienceMs'>>

/** `boot` names this run of the machine. A file that was not closed is checked first. */
export const openViewsEnv = async ({
  path,
  boot = bootId(),
  rooms = { views: unlimited, rebuilds: unlimited },
  log = silent,
  patienceMs,
}: Options): Promise<ViewsEnv> => {
  const data = join(path, 'data.mdb')
  const markFile = join(path, 'mark.json')

  const writeMark = async (how: { boot: string } | ClosedFile) => {
    await synced(`${markFile}.new`, JSON.stringify({ layout, ...how }))
    await rename(`${markFile}.new`, markFile)
    await synced(path)
  }
  let damage: StoreDamaged | undefined
  const drop = () => {
    for (const file of [data, join(path, 'lock.mdb')]) rmSync(file, { force: true })
    removePending(path)
    damage = undefined
  }
  /** Opens the file with all databases in it. Throws what lmdb says of a damaged one. */
  const openRoot = async (): Promise<RootDatabase> => {
    const root = open({ path, noSync: true, overlappingSync: false, maxDbs: 4 })
    try {
      for (const name of ['views', 'snapshots']) root.openDB({ name })
      return root
    } catch (error) {
      await root.close()
      throw error
    }
  }
  const listeners: ((error: StoreDamaged) => void)[] = []
  const damaged = (error: StoreDamaged) => {
    damage = error
    for (const notify of listeners) notify(error)
  }
  const onValue = () => damaged(new StoreDamaged(`${data}: a value is damaged`))
  let stopCheck = () => {}
  /** Why the file that was left open cannot be used, if it cannot. */
  const faultFound = async (): Promise<string | undefined> => {
    const check = { path, kind: 'views', log, onValue, onFault: damaged, patienceMs } as const
    stopCheck = await checkIntegrity(check).catch((error) => {
      if (!(error instanceof StoreDamaged)) throw error
      damage = error
      return () => undefined
    })
    return damage?.message
  }

  await mkdir(path, { recursive: true })
  const left = readMark(markFile)
  let startedEmpty = damageOf(data, left, boot)
  if (!startedEmpty && left && 'boot' in left && existsSync(data)) startedEmpty = await faultFound()
  if (startedEmpty) drop()
  await writeMark({ boot: boot ?? 'unknown to the next process' })
  let root: RootDatabase
  try {
    root = await openRoot()
  } catch (error) {
    startedEmpty = `it cannot be opened: ${error instanceof Error ? error.message : error}`
    drop()
    root = await openRoot()
  }
  let renewing = false

  return {
    rooms,
    get root() {
      return root
    },
    get renewing() {
      return renewing
    },
    onDamage: (listener) => {
      listeners.push(listener)
      if (damage) listener(damage)
    },
    damaged,
    startedEmpty,
    async renew() {
      renewing = true
      stopCheck()
      try {
        await root.close()
        drop()
        root = await openRoot()
      } finally {
        renewing = false
      }
    },
    async close() {
      stopCheck()
      await root.close()
      await synced(data)
      await writeMark(closedAs(data))
      removePending(path)
    },
  }
}
