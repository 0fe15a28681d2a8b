import { type Unzipped, unzipSync } from 'fflate'
import { Unreadable } from './block.ts'

/** The most bytes that an archive may unpack to. */
const largest = 64 * 1024 * 1024
const mostEntries = 10_000
/** The first bytes of older files, and of encrypted ones. */
const compoundFile = [0xd0, 0xcf, 0x11, 0xe0]

/**
 * The entries of an Office file whose names fit. An entry is unpacked to no more than the size it
 * declares, and those are added up before anything is unpacked. @throws Unreadable
 */
export const unzipped = (bytes: Uint8Array, wanted: RegExp): Unzipped => {
  if (compoundFile.every((byte, n) => bytes[n] === byte))
    throw new Unreadable('The file is encrypted, or in a format from before 2007')
  let total = 0
  let entries = 0
  try {
    return unzipSync(bytes, {
      filter({ name, originalSize }) {
        entries++
        if (entries > mostEntries) throw new Unreadable('The file has too many parts')
        if (!wanted.test(name)) return false
        total += originalSize
        if (total > largest) throw new Unreadable('The file unpacks to more than 64 MB')
        return true
      },
    })
  } catch (error) {
    if (error instanceof Unreadable) throw error
    throw new Unreadable('The file is damaged: it cannot be unpacked')
  }
}
