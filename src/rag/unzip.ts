import { unzipSync } from 'fflate'
import { Unreadable } from './block.ts'

/** The most bytes that an archive may unpack to. */
const largest = 64 * 1024 * 1024
const mostEntries = 10_000
/** The first bytes of older files, and of encrypted ones. */
const compoundFile = [0xd0, 0xcf, 0x11, 0xe0]

/** Names of parts are compared without case, and some programs write `\`. */
const partName = (name: string): string => name.replaceAll('\\', '/').toLowerCase()

/**
 * Gives the entries of an Office file whose names are wanted. An entry is unpacked to no more than
 * the size it declares, and those are added up before anything is unpacked. @throws Unreadable
 */
export const archiveOf = (bytes: Uint8Array) => {
  if (compoundFile.every((byte, n) => bytes[n] === byte))
    throw new Unreadable('The file is encrypted, or in a format from before 2007')
  let total = 0

  return (isWanted: (name: string) => boolean): Map<string, Uint8Array> => {
    let entries = 0
    try {
      const unzipped = unzipSync(bytes, {
        filter({ name, originalSize }) {
          entries++
          if (entries > mostEntries) throw new Unreadable('The file has too many parts')
          if (!isWanted(partName(name))) return false
          total += originalSize
          if (total > largest) throw new Unreadable('The file unpacks to more than 64 MB')
          return true
        },
      })
      return new Map(Object.entries(unzipped).map(([name, part]) => [partName(name), part]))
    } catch (error) {
      if (error instanceof Unreadable) throw error
      throw new Unreadable('The file is damaged: it cannot be unpacked')
    }
  }
}
