import { createHash } from 'node:crypto'
import type { ArrivedFile } from '../../commands/upload-files.ts'

/** A text file whose bytes have arrived. */
export const arrivedFile = (filename: string, text = filename): ArrivedFile => ({
  filename,
  fileType: 'text/plain',
  size: Buffer.byteLength(text),
  hash: createHash('sha256').update(text).digest('hex'),
  async *bytes() {
    yield Buffer.from(text)
  },
})
