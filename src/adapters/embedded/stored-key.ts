import type { Key } from 'lmdb'
import { readKey } from 'ordered-binary'
import { UnreadableKey } from './lmdb-errors.ts'

/** Between the parts of a key. */
const separator = 0
/** Comes before characters that the encoding uses itself. */
const escaping = 4
/** A text that would begin with a lower byte has another one before it. */
const firstPlain = 28

/** Only the last parts of keys are asked for. */
let lastOnly = false

/** Where the last part of a key of several begins; -1 unless it is plain text. */
const lastFrom = (source: Buffer, start: number, end: number): number => {
  let at = end
  for (; at > start && source[at - 1] !== separator; at--) {
    const byte = source[at - 1] as number
    if (byte <= escaping || byte > 0x7f) return -1
  }
  const isPlain = at < end && (source[at] as number) >= firstPlain
  return isPlain && at - 1 > start && source[at - 2] !== escaping ? at : -1
}

const readWhole = (source: Buffer, start: number, end: number): Key => {
  try {
    return readKey(source, start, end) as Key
  } catch (cause) {
    throw new UnreadableKey(`damaged key: ${cause}`, { cause })
  }
}

/**
 * A key as it is stored; while only last parts are asked for, that part alone where it is plain
 * text. @throws UnreadableKey
 */
export const readStored = (source: Buffer, start: number, end: number): Key => {
  const from = lastOnly ? lastFrom(source, start, end) : -1
  return from < 0 ? readWhole(source, start, end) : source.toString('latin1', from, end)
}

/** The last part of a key; of an entry's, the id of its document. */
export const lastPartOf = (key: Key): string => String(Array.isArray(key) ? key.at(-1) : key)

/** The last parts of keys that end with a text, read without the parts before them. */
export const lastPartsOf = (keys: Iterable<Key>): Iterable<string> => ({
  [Symbol.iterator]() {
    const iterator = keys[Symbol.iterator]()
    return {
      next(): IteratorResult<string> {
        lastOnly = true
        try {
          const { done, value } = iterator.next()
          return done ? { done, value: undefined } : { done: false, value: lastPartOf(value) }
        } finally {
          lastOnly = false
        }
      },
      return(): IteratorResult<string> {
        iterator.return?.()
        return { done: true, value: undefined }
      },
    }
  },
})
