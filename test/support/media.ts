/** Headers of files, with type and size, followed by bytes that are no picture or sound. */

const filled = (head: Buffer, bytes = head.length): Buffer =>
  Buffer.concat([head, Buffer.alloc(Math.max(0, bytes - head.length), 7)])

export const png = (width = 640, height = 480, bytes?: number): Buffer => {
  const head = Buffer.alloc(33)
  head.write('\x89PNG\r\n\x1a\n', 'latin1')
  head.writeUInt32BE(13, 8)
  head.write('IHDR', 12, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return filled(head, bytes)
}

export const gif = (width: number, height: number): Buffer => {
  const head = Buffer.alloc(13)
  head.write('GIF89a', 'latin1')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  return head
}

/** With a comment of so many bytes before the frame that tells the size. */
export const jpeg = (width: number, height: number, comment = 100): Buffer => {
  const note = Buffer.alloc(comment + 4, 1)
  note.writeUInt16BE(0xfffe)
  note.writeUInt16BE(comment + 2, 2)
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([Buffer.from([0xff, 0xd8]), note, frame])
}

const riff = (kind: string, size: number): Buffer => {
  const head = Buffer.alloc(size)
  head.write('RIFF', 'latin1')
  head.writeUInt32LE(size - 8, 4)
  head.write(kind, 8, 'latin1')
  return head
}

export const wav = (bytes = 44): Buffer => riff('WAVE', bytes)

export const webp = {
  lossy(width: number, height: number): Buffer {
    const head = riff('WEBP', 30)
    head.write('VP8 ', 12, 'latin1')
    head.writeUInt16LE(width, 26)
    head.writeUInt16LE(height, 28)
    return head
  },
  lossless(width: number, height: number): Buffer {
    const head = riff('WEBP', 30)
    head.write('VP8L', 12, 'latin1')
    head.writeUInt32LE((width - 1) | ((height - 1) << 14), 21)
    return head
  },
  extended(width: number, height: number): Buffer {
    const head = riff('WEBP', 30)
    head.write('VP8X', 12, 'latin1')
    head.writeUIntLE(width - 1, 24, 3)
    head.writeUIntLE(height - 1, 27, 3)
    return head
  },
}

export const mp3 = (bytes = 64): Buffer => filled(Buffer.from([0xff, 0xfb, 0x90, 0x64]), bytes)

export const pdf = (bytes = 64): Buffer => filled(Buffer.from('%PDF-1.7\n'), bytes)

export const dataUrl = (mediaType: string, bytes: Buffer): string =>
  `data:${mediaType};base64,${bytes.toString('base64')}`

export const imagePart = (bytes: Buffer = png(), mediaType = 'image/png') => ({
  type: 'image_url' as const,
  image_url: { url: dataUrl(mediaType, bytes) },
})

export const audioPart = (bytes: Buffer = wav(), format: 'wav' | 'mp3' = 'wav') => ({
  type: 'input_audio' as const,
  input_audio: { data: bytes.toString('base64'), format },
})

export const filePart = (bytes: Buffer = pdf(), filename = 'report.pdf') => ({
  type: 'file' as const,
  file: { filename, file_data: dataUrl('application/pdf', bytes) },
})

export const textPart = (text: string) => ({ type: 'text' as const, text })
