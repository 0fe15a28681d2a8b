import { isUtf8 } from 'node:buffer'
import { detect } from 'chardet'
import iconv from 'iconv-lite'
import { Unreadable } from './block.ts'

/** How much of a text is looked at for its encoding. */
const sampleSize = 65_536

const declared =
  /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([\w-]+)/i

const wide = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined
}

const guessed = (bytes: Buffer): string => {
  const sample = bytes.subarray(0, sampleSize)
  const named = declared.exec(sample.toString('latin1'))
  const name = named?.[1] ?? named?.[2] ?? detect(sample) ?? ''
  return iconv.encodingExists(name) ? name : 'windows-1252'
}

/**
 * Decodes a text. The encoding is what its first bytes or its own declaration say, or UTF-8 if it
 * is valid UTF-8, or a guess. Line ends become `\n`.
 * @throws Unreadable
 */
export const decodedText = (given: Uint8Array): string => {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const encoding = wide(bytes) ?? (isUtf8(bytes) ? 'utf-8' : guessed(bytes))
  const text = iconv.decode(bytes, encoding).replace(/\r\n?/g, '\n')
  if (text.includes('\0')) throw new Unreadable('The file is not text')
  return text
}
