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
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { removePending } from './integrity-check.ts'

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

/** Notes a data file's state at its close; without the note, the next opening checks the file. */
export const markClosed = (file: string): void => {
  try {
    writeDurably(dirname(file), closedMark, JSON.stringify(closedAs(file)))
    removePending(dirname(file))
  } catch {}
}

/** Whether a data file is as it was closed. Removes the note, which the first write invalidates. */
export const takeClosedMark = (file: string): boolean => {
  const path = dirname(file)
  const mark = join(path, closedMark)
  if (!existsSync(mark)) return false
  const was = readFileSync(mark, 'utf8')
  rmSync(mark)
  syncDirectory(path)
  return was === JSON.stringify(closedAs(file))
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
