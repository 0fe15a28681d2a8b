import { type FileType, fileTypeOf, supportedExtensions } from '../../domain/file/types.ts'
import { refusal } from '../../domain/refusal.ts'

/** In bytes: one file, and all files of a request together (docs/contract/limits.md#sizes). */
export const largestFile = 10 * 1024 * 1024
export const largestUpload = 10 * 1024 * 1024

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
