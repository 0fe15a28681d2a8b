import { createHash } from 'node:crypto'
import type { ArrivedFile } from '../../../commands/upload-files.ts'
import { refusal } from '../../domain/refusal.ts'
import { requireFileSize, requireFileType, requireUploadSize } from '../checks/file-limits.ts'

/** A file in a JSON body. */
type EncodedFile = { filename: string; content: string; contentType?: string | undefined }

const lineBreaks = /[\r\n]+/g
const alphabet = /^[A-Za-z0-9+/]*={0,2}$/

/** Decodes base64; line breaks in it are ignored. @throws invalid_base64, file_too_large */
const decoded = ({ filename, content }: EncodedFile): Buffer => {
  const text = content.replace(lineBreaks, '')
  requireFileSize(filename, Math.floor((text.length * 3) / 4) - 2)
  if (text.length % 4 !== 0 || !alphabet.test(text))
    throw refusal('invalid_base64', {
      message: `${filename}: the content is not valid base64`,
      filename,
    })
  const bytes = Buffer.from(text, 'base64')
  requireFileSize(filename, bytes.length)
  return bytes
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

/**
 * The files of a JSON body, decoded. If one is refused, none is taken. @throws
 * unsupported_file_type, file_too_large, invalid_base64, payload_too_large
 */
export const decodedFiles = (files: readonly EncodedFile[]): ArrivedFile[] => {
  const arrived = files.map((file): ArrivedFile => {
    const { filename, contentType } = file
    const fileType = requireFileType(filename, contentType)
    const bytes = decoded(file)
    const hash = createHash('sha256').update(bytes).digest('hex')
    return { filename, fileType, size: bytes.length, hash, bytes: () => once(bytes) }
  })
  requireUploadSize(arrived.reduce((sum, { size }) => sum + size, 0))
  return arrived
}
