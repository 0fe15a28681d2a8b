import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { mkdir, open as openFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'

/** Raised when what is stored changes its shape: older views are dropped and folded again. */
const layout = 2

/** How the environment was left: `open` in a running process, or ended with a file of that size. */
type Mark = { layout: number; boot: string } | { layout: number; bytes: number }

/**
 * The environment of the views and snapshots, apart from the event log. Its commits are not
 * fsynced: killing the process loses whole commits or nothing, but after a power cut the file may
 * hold anything. Such a file is not opened; the views start empty and are folded again.
 */
export type ViewsEnv = {
  root: RootDatabase
  /** Why what was there had to be dropped, if it had. */
  startedEmpty: string | undefined
  /** Everything on disk, and marked as such. */
  close(): Promise<void>
}

/** Changes when the machine starts; unknown where the system does not tell. */
const bootId = (): string | undefined => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
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
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** lmdb crashes on a file that is none of its own, so its first bytes are looked at before. */
const isDatabase = (data: string): boolean => {
  const head = Buffer.alloc(28)
  const file = openSync(data, 'r')
  readSync(file, head)
  closeSync(file)
  return head.readUInt32LE(24) === 0xbeefc0de
}

const damageOf = (data: string, mark: Mark | undefined, boot: string | undefined) => {
  if (!existsSync(data)) return undefined
  if (!isDatabase(data)) return 'it is not a database'
  if (!mark) return 'nothing says how it was left'
  if (mark.layout !== layout) return 'it was written by another version'
  if ('bytes' in mark) return statSync(data).size < mark.bytes ? 'it was cut short' : undefined
  return mark.boot === boot ? undefined : 'the machine went down while it was in use'
}

/** `boot` names this run of the machine. */
export const openViewsEnv = async ({
  path,
  boot = bootId(),
}: {
  path: string
  boot?: string | undefined
}): Promise<ViewsEnv> => {
  const data = join(path, 'data.mdb')
  const markFile = join(path, 'mark.json')

  const mark = async (how: { boot: string } | { bytes: number }) => {
    await synced(`${markFile}.new`, JSON.stringify({ layout, ...how }))
    await rename(`${markFile}.new`, markFile)
    await synced(path)
  }
  const drop = () => {
    for (const file of [data, join(path, 'lock.mdb')]) rmSync(file, { force: true })
  }
  const openRoot = () =>
    open({ path, noSync: true, noMemInit: true, overlappingSync: false, maxDbs: 4 })

  await mkdir(path, { recursive: true })
  let startedEmpty = damageOf(data, readMark(markFile), boot)
  if (startedEmpty) drop()
  await mark({ boot: boot ?? 'unknown to the next process' })
  let root: RootDatabase
  try {
    root = openRoot()
  } catch (error) {
    startedEmpty = `it cannot be opened: ${error instanceof Error ? error.message : error}`
    drop()
    root = openRoot()
  }

  return {
    root,
    startedEmpty,
    async close() {
      await root.close()
      await synced(data)
      await mark({ bytes: statSync(data).size })
    },
  }
}
