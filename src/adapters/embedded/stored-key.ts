import type { Key } from 'lmdb'
import { readKey } from 'ordered-binary'
import { UnreadableKey } from './lmdb-errors.ts'

/** A key as it is stored. @throws UnreadableKey */
export const readStored = (source: Buffer, start: number, end: number): Key => {
  try {
    return readKey(source, start, end) as Key
  } catch (cause) {
    throw new UnreadableKey(`damaged key: ${cause}`, { cause })
  }
}

/** The last part of a key; of an entry's, the id of its document. */
export const lastPartOf = (key: Key): string => String(Array.isArray(key) ? key.at(-1) : key)
