import type { ArrivedFile } from '../../../commands/upload-files.ts'
import { refusal } from '../../domain/refusal.ts'
import { requireFileSize, requireFileType, requireUploadSize } from '../checks/file-limits.ts'

/** A file in a JSON body. */
type EncodedFile = { filename: string; content: string; contentType?: string | undefined }

/** Takes the bytes of a file as they come. */
export type KeepFile = (
  bytes: AsyncIterable<Uint8Array>,
) => Promise<Pick<ArrivedFile, 'size' | 'hash' | 'bytes'>>

/** Characters that are decoded in one step. */
const pieceLength = 262_144
const lineBreaks = /[\r\n]+/g
const alphabet = /^[A-Za-z0-9+/]*$/
const lastAlphabet = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Decodes base64 piece by piece, so that the consumer can apply backpressure. Ignores line breaks.
 * @throws invalid_base64, file_too_large
 */
async function* decoded({ filename, content }: EncodedFile): AsyncGenerator<Buffer> {
  let size = 0
  let rest = ''
  for (let at = 0; at < content.length; at += pieceLength) {
    const last = at + pieceLength >= content.length
    const text = rest + content.slice(at, at + pieceLength).replace(lineBreaks, '')
    // The end waits for what follows: only the last characters may be padding.
    const length = last ? text.length : Math.max(0, text.length - 4 - (text.length % 4))
    const piece = text.slice(0, length)
    rest = text.slice(length)
    if (piece.length % 4 !== 0 || !(last ? lastAlphabet : alphabet).test(piece))
      throw refusal('invalid_base64', {
        message: `${filename}: the content is not valid base64`,
        filename,
      })
    const bytes = Buffer.from(piece, 'base64')
    size += bytes.length
    requireFileSize(filename, size)
    yield bytes
  }
}

/**
 * The files of a JSON body, decoded one after the other and kept as they come. If one is refused,
 * none is taken. @throws unsupported_file_type, file_too_large, invalid_base64, payload_too_large
 */
export const decodedFiles = async (
  files: readonly EncodedFile[],
  keep: KeepFile,
): Promise<ArrivedFile[]> => {
  const arrived: ArrivedFile[] = []
  let total = 0
  for (const file of files) {
    const { filename, contentType } = file
    const fileType = requireFileType(filename, contentType)
    const { size, hash, bytes } = await keep(decoded(file))
    total += size
    requireUploadSize(total)
    arrived.push({ filename, fileType, size, hash, bytes })
  }
  return arrived
}
