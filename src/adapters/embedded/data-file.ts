import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { StoreDamaged } from '../../ports/event-store.ts'

const growBy = 64 * 1024 * 1024
const headBytes = 65_536
const closedMark = 'closed.json'

/** What a data file was when it was closed: its length, and a hash of its first 64 KiB. */
export const closedFile = z.object({ bytes: z.number(), head: z.string() })

export type ClosedFile = z.infer<typeof closedFile>

/** A file as it is now, to be compared when it is opened again. */
export const closedAs = (file: string): ClosedFile => {
  const head = Buffer.alloc(headBytes)
  const fd = openSync(file, 'r')
  try {
    const read = readSync(fd, head, 0, headBytes, 0)
    const hash = createHash('sha256').update(head.subarray(0, read)).digest('hex')
    return { bytes: fstatSync(fd).size, head: hash }
  } finally {
    closeSync(fd)
  }
}

const syncDirectory = (path: string): void => {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/** Writes a small file and its name to disk. */
export const writeDurably = (path: string, name: string, text: string): void => {
  writeFileSync(join(path, name), text, { flush: true })
  syncDirectory(path)
}

/** Notes beside a data file what it is at its close; where it cannot, the next opening checks it. */
export const markClosed = (file: string): void => {
  try {
    writeDurably(dirname(file), closedMark, JSON.stringify(closedAs(file)))
  } catch {}
}

/** Whether a data file is as it was closed. The note is removed: it says nothing once lmdb writes. */
const takeClosedMark = (file: string): boolean => {
  const path = dirname(file)
  const mark = join(path, closedMark)
  if (!existsSync(mark)) return false
  const was = readFileSync(mark, 'utf8')
  rmSync(mark)
  syncDirectory(path)
  return was === JSON.stringify(closedAs(file))
}

const check = fileURLToPath(new URL('./database-check.js', import.meta.url))

/** How many bytes a data file must have. @throws StoreDamaged when lmdb cannot open it */
const bytesNeeded = async (file: string): Promise<number> => {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [check, dirname(file)])
    return Number(stdout)
  } catch (error) {
    const { code, signal } = error as { code?: unknown; signal?: string }
    if (!signal && typeof code !== 'number') throw error
    const how = signal ?? `exit code ${code}`
    throw new StoreDamaged(`${file} cannot be opened: lmdb ended with ${how}`, { cause: error })
  }
}

/**
 * Refuses a data file that is not whole before it is mapped into memory: on a damaged header, and
 * on a page beyond the end of the file, lmdb kills the process. So unless the file is as it was
 * closed, another process opens it first.
 * @throws StoreDamaged
 */
export const assertWhole = async (file: string): Promise<void> => {
  if (!existsSync(file)) throw new StoreDamaged(`${file} is missing`)
  if (takeClosedMark(file)) return
  const bytes = await bytesNeeded(file)
  const { size } = statSync(file)
  if (size < bytes) throw new StoreDamaged(`${file} has ${size} bytes of at least ${bytes}`)
}

/**
 * Keeps the data file longer than what is used of it (with a hole that takes no space), so that a
 * commit on a full disk fails with an error, and a file that is too short was truncated. `used` is
 * asked only when what was reserved since may have been used up.
 */
export const roomIn = (file: string, used: () => number) => {
  const fd = openSync(file, 'r+')
  let size = fstatSync(fd).size
  /** What is used at most. */
  let most = Number.POSITIVE_INFINITY
  return {
    reserve(bytes: number): void {
      if (size - most < bytes) most = used()
      most += bytes
      if (most <= size) return
      ftruncateSync(fd, size + growBy)
      size += growBy
    },
    close: () => closeSync(fd),
  }
}
