import { isUtf8 } from 'node:buffer'
import { detect } from 'chardet'
import iconv from 'iconv-lite'
import { Unreadable } from './block.ts'
import { wideEncoding } from './wide-encoding.ts'

/** How much of a text is looked at for its encoding, and how much around each foreign byte. */
const sampleSize = 65_536
const around = 64

/** A text is UTF-8, however much else was written into it, if so many times more is valid. */
const leastValid = 4
/** Which part of a text control characters are at most; of one in a guessed encoding. */
const mostControls = 0.3
const mostGuessedControls = 0.05

const declared =
  /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([\w-]+)/i
/** What a declaration cannot truly say, as it was read in another encoding. */
const undeclarable = /^(?:utf|ucs|unicode)/i
/** These are read as their superset, as browsers do. */
const latin = /^(?:(?:us-)?ascii|latin-?1|iso-?8859-1)$/i
const western = 'windows-1252'
const westernLetters = iconv.decode(
  Buffer.from(Array.from({ length: 0x80 }, (_, n) => 0x80 + n)),
  western,
)
// biome-ignore lint/suspicious/noControlCharactersInRegex: what texts do not consist of
const controls = /[\0-\x08\x0e-\x1f]/g

const isForeign = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x80

/** How many bytes a character of UTF-8 has that begins at a place; 0 where none does. */
const sequenceLength = (bytes: Buffer, at: number): number => {
  const lead = bytes[at] ?? 0
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  for (let n = at + 1; n < at + length; n++) if (((bytes[n] ?? 0) & 0xc0) !== 0x80) return 0
  // Neither longer than need be, nor half of a surrogate pair, nor beyond the last code point.
  const second = bytes[at + 1] ?? 0
  const isWrong =
    (lead === 0xe0 && second < 0xa0) ||
    (lead === 0xed && second > 0x9f) ||
    (lead === 0xf0 && second < 0x90) ||
    (lead === 0xf4 && second > 0x8f)
  return isWrong ? 0 : length
}

/** Visits each byte outside of the characters of UTF-8. Returns how many of those are not ASCII. */
const eachInvalid = (bytes: Buffer, visit: (at: number) => void): number => {
  let valid = 0
  for (let at = 0; at < bytes.length; at++) {
    if (!isForeign(bytes[at])) continue
    const length = sequenceLength(bytes, at)
    if (length > 0) {
      valid++
      at += length - 1
    } else visit(at)
  }
  return valid
}

/** UTF-8 with a few Western bytes in it; undefined for any other text. */
const mixedUtf8 = (bytes: Buffer): string | undefined => {
  let invalid = 0
  const valid = eachInvalid(bytes, () => {
    invalid++
  })
  if (valid < leastValid * invalid) return undefined
  let text = ''
  let from = 0
  eachInvalid(bytes, (at) => {
    text += bytes.toString('utf8', from, at) + westernLetters[(bytes[at] ?? 0) - 0x80]
    from = at + 1
  })
  return text + bytes.toString('utf8', from)
}

/** The bytes that are not ASCII, each with some around it: they may come late. */
const foreignPart = (bytes: Buffer): Buffer => {
  const parts: Buffer[] = []
  let size = 0
  let end = 0
  for (let at = 0; at < bytes.length && size < sampleSize; at++) {
    if (!isForeign(bytes[at])) continue
    const part = bytes.subarray(Math.max(end, at - around), at + around)
    parts.push(part)
    size += part.length
    end = at + around
    at = end - 1
  }
  return Buffer.concat(parts)
}

const guessed = (bytes: Buffer): string => {
  const head = declared.exec(bytes.toString('latin1', 0, sampleSize))
  const named = head?.[1] ?? head?.[2] ?? ''
  const isKnown = !undeclarable.test(named) && iconv.encodingExists(named)
  const name = isKnown ? named : (detect(foreignPart(bytes)) ?? '')
  return latin.test(name) || !iconv.encodingExists(name) ? western : name
}

const decoded = (bytes: Buffer): { text: string; isGuess?: boolean } => {
  const isNarrow = isUtf8(bytes)
  const encoding = wideEncoding(bytes, isNarrow)
  if (encoding) return { text: iconv.decode(bytes, encoding) }
  if (isNarrow) return { text: iconv.decode(bytes, 'utf-8') }
  const mixed = mixedUtf8(bytes)
  if (mixed !== undefined) return { text: mixed }
  return { text: iconv.decode(bytes, guessed(bytes)), isGuess: true }
}

/**
 * Decodes a text. The encoding is what its first bytes or its own declaration say, or UTF-8 if it
 * is valid UTF-8, or a guess. Line ends become `\n`.
 * @throws Unreadable
 */
export const decodedText = (given: Uint8Array): string => {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const { text, isGuess = false } = decoded(bytes)
  const most = isGuess ? mostGuessedControls : mostControls
  if ((text.match(controls)?.length ?? 0) > most * text.length)
    throw new Unreadable('The file is not text')
  return text.replace(/\r\n?/g, '\n')
}
