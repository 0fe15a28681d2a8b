/** What the first bytes of a file tell; `width` and `height` in pixels. */
export type MediaHeader = { mediaType: string; width?: number; height?: number }

const startsWith = (bytes: Buffer, text: string, at = 0): boolean =>
  bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text

const sized = (mediaType: string, width: number, height: number): MediaHeader =>
  width > 0 && height > 0 ? { mediaType, width, height } : { mediaType }

const png = (bytes: Buffer): MediaHeader =>
  bytes.length >= 24 && startsWith(bytes, 'IHDR', 12)
    ? sized('image/png', bytes.readUInt32BE(16), bytes.readUInt32BE(20))
    : { mediaType: 'image/png' }

const gif = (bytes: Buffer): MediaHeader =>
  bytes.length >= 10
    ? sized('image/gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8))
    : { mediaType: 'image/gif' }

const webp = (bytes: Buffer): MediaHeader => {
  const mediaType = 'image/webp'
  if (bytes.length < 30) return { mediaType }
  if (startsWith(bytes, 'VP8X', 12))
    return sized(mediaType, 1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3))
  if (startsWith(bytes, 'VP8L', 12)) {
    const bits = bytes.readUInt32LE(21)
    return sized(mediaType, 1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff))
  }
  if (startsWith(bytes, 'VP8 ', 12))
    return sized(mediaType, bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
  return { mediaType }
}

/** Begins a frame: 0xC0 to 0xCF, less tables and what is reserved. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Goes from segment to segment, as far as there are bytes. */
const jpeg = (bytes: Buffer): MediaHeader => {
  const mediaType = 'image/jpeg'
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return { mediaType }
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    if (isFrame(marker))
      return sized(mediaType, bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5))
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return { mediaType }
}

/**
 * What a file is by its first bytes: PNG, JPEG, GIF, WebP, WAV, MP3 and PDF are known. Nothing is
 * decoded; sizes of images are those that their headers claim.
 */
export const mediaHeader = (bytes: Buffer): MediaHeader | undefined => {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return png(bytes)
  if (startsWith(bytes, '\xff\xd8\xff')) return jpeg(bytes)
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return gif(bytes)
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)) return webp(bytes)
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WAVE', 8)) return { mediaType: 'audio/wav' }
  if (startsWith(bytes, 'ID3')) return { mediaType: 'audio/mpeg' }
  if (startsWith(bytes, '%PDF-')) return { mediaType: 'application/pdf' }
  const [first = 0, second = 0] = bytes
  // Frames of MPEG audio, layer III.
  return first === 0xff && (second & 0xe6) === 0xe2 ? { mediaType: 'audio/mpeg' } : undefined
}
