import { enableNullTermination, toBufferKey, writeKey } from 'ordered-binary'
import { readStored } from './stored-key.ts'

/** The position of a record as a value. Damaged bytes decode as any key, or not (UnreadableKey). */
export const storedPosition = {
  encode: (position: number): Buffer => toBufferKey(position),
  decode: (bytes: Buffer, { end = bytes.length } = {}) => readStored(bytes, 0, end),
}

/** For lmdb: its own encoder, which names damaged keys (UnreadableKey). */
export const keyEncoder = { writeKey, readKey: readStored, enableNullTermination }
