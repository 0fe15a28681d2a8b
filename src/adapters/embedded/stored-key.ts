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

/** The position that a key is. Damaged bytes may decode as any other key. @throws UnreadableKey */
export const readPosition = (source: Buffer, start: number, end: number): number => {
  const key = readStored(source, start, end)
  if (typeof key === 'number' && Number.isSafeInteger(key)) return key
  throw new UnreadableKey(`damaged key: ${typeof key} instead of a position`)
}

/** The last part of a key; of an entry's, the id of its document. */
export const lastPartOf = (key: Key): string => String(Array.isArray(key) ? key.at(-1) : key)
