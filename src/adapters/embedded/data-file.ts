import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { StoreDamaged } from '../../ports/event-store.ts'

const magic = 0xbeefc0de
const metaOffset = 24
const growBy = 64 * 1024 * 1024

/** One of LMDB's two headers: which transaction wrote it and how many bytes that one needs. */
const headerAt = (fd: number, offset: number) => {
  const header = Buffer.alloc(136)
  readSync(fd, header, 0, header.length, offset + metaOffset)
  const pageSize = header.readUInt32LE(24)
  return {
    sound: header.readUInt32LE(0) === magic,
    pageSize,
    bytes: (Number(header.readBigUInt64LE(120)) + 1) * pageSize,
    transaction: header.readBigUInt64LE(128),
  }
}

/**
 * Refuses a data file that is not whole before it is mapped into memory: touching a page beyond
 * the end of a mapped file kills the process.
 * @throws StoreDamaged
 */
export const assertWhole = (file: string): void => {
  if (!existsSync(file)) throw new StoreDamaged(`${file} is missing`)
  const fd = openSync(file, 'r')
  try {
    const first = headerAt(fd, 0)
    const second = headerAt(fd, first.pageSize)
    if (!first.sound || !second.sound) throw new StoreDamaged(`${file} has no sound header`)
    const { bytes } = first.transaction > second.transaction ? first : second
    const { size } = fstatSync(fd)
    if (size < bytes) throw new StoreDamaged(`${file} has ${size} bytes of at least ${bytes}`)
  } finally {
    closeSync(fd)
  }
}

/**
 * Keeps the data file longer than what is used of it (with a hole that takes no space), so that a
 * file shorter than its header says is always a truncated one.
 */
export const roomIn = (file: string, used: () => number) => {
  const fd = openSync(file, 'r+')
  let size = fstatSync(fd).size
  return {
    reserve(bytes: number): void {
      if (size - used() >= bytes) return
      ftruncateSync(fd, size + growBy)
      size += growBy
    },
    close: () => closeSync(fd),
  }
}

/** Writes a small file and its name to disk. */
export const writeDurably = (path: string, name: string, text: string): void => {
  writeFileSync(join(path, name), text, { flush: true })
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}
