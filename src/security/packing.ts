import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** No text in UTF-8 has this byte. */
const mark = 0xff
/** Shorter texts fit anyway, and are not worth the time. */
const worthwhile = 65_536

/** A UTF-16 unit is at most 3 bytes of UTF-8. */
const mostBytesOfUnit = 3

/** A short text as it is, a long one as deflated bytes: an event holds 1 MiB, a request 10. */
export const packed = (text: string): string | Buffer => {
  if (text.length * mostBytesOfUnit < worthwhile) return text
  const bytes = Buffer.from(text)
  if (bytes.length < worthwhile) return bytes
  return Buffer.concat([Buffer.of(mark), deflateRawSync(bytes, { level: 1 })])
}

/** Far above any text that is packed. */
const mostUnpacked = 64 * 1024 * 1024

/** The text that was packed. @throws when it is larger than any text can be */
export const unpacked = (bytes: Buffer): string =>
  (bytes[0] === mark
    ? inflateRawSync(bytes.subarray(1), { maxOutputLength: mostUnpacked })
    : bytes
  ).toString()
