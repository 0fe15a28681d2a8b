import { createHash } from 'node:crypto'
import type { ArrivedFile } from '../../../commands/upload-files.ts'
import { type FileType, fileTypeOf, supportedExtensions } from '../../domain/file/types.ts'
import { refusal } from '../../domain/refusal.ts'

/** In bytes: one file, and all files of a request together (docs/contract/limits.md#sizes). */
export const largestFile = 10 * 1024 * 1024
export const largestUpload = 10 * 1024 * 1024

/** A file as a JSON body has it. */
type EncodedFile = { filename: string; content: string; contentType?: string | undefined }

/** @throws unsupported_file_type */
export const requireFileType = (filename: string, declared?: string): FileType => {
  const type = fileTypeOf(filename, declared)
  if (type) return type
  const own = fileTypeOf(filename)
  throw refusal('unsupported_file_type', {
    message: own
      ? `${filename}: ${declared} is not the type of such a file, ${own} is`
      : `${filename}: the file type is not supported. Supported: ${supportedExtensions.join(', ')}`,
    filename,
  })
}

/** @throws file_too_large */
export const requireFileSize = (filename: string, size: number): void => {
  if (size > largestFile)
    throw refusal('file_too_large', { message: `${filename} is larger than 10 MB`, filename })
}

/** @throws payload_too_large */
export const requireUploadSize = (size: number): void => {
  if (size > largestUpload)
    throw refusal('payload_too_large', { message: 'The files are larger than 10 MB in all' })
}

const lineBreaks = /[\r\n]+/g
const alphabet = /^[A-Za-z0-9+/]*={0,2}$/

/** What base64 stands for; line breaks in it mean nothing. @throws invalid_base64, file_too_large */
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
 * The files of a JSON body, decoded. One that is refused refuses them all.
 * @throws unsupported_file_type, file_too_large, invalid_base64, payload_too_large
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
