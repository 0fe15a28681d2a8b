import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import type { FileType } from '../domain/file/types.ts'
import { longestText, Unreadable } from './block.ts'
import { type Chunk, chunksOf } from './chunk.ts'
import { chunkLines } from './chunk-lines.ts'
import { parse } from './parse/parse.ts'

export type DocumentTask = { bytes: Uint8Array<ArrayBuffer>; fileType: FileType; uploadId: string }

export type ReadDocument =
  /** `lines` are the chunks as they are stored, `hash` is their SHA-256. */
  | { lines: Uint8Array<ArrayBuffer>; hash: string; count: number }
  /** Why the file cannot be read, in words for the user who uploaded it. */
  | { failed: string }

const read = async ({ bytes, fileType, uploadId }: DocumentTask): Promise<ReadDocument> => {
  if (bytes.length === 0) throw new Unreadable('The file is empty')
  const chunks: Chunk[] = []
  let length = 0
  for (const chunk of chunksOf(await parse(bytes, fileType))) {
    length += chunk.text.length
    if (length > longestText)
      throw new Unreadable(`The document has more than ${longestText} characters of text`)
    chunks.push(chunk)
  }
  if (chunks.length === 0) throw new Unreadable('The document has no text')
  const lines = new TextEncoder().encode(chunkLines(uploadId, chunks))
  return { lines, hash: createHash('sha256').update(lines).digest('hex'), count: chunks.length }
}

const wordsFor = (error: unknown): string => {
  if (error instanceof Unreadable) return error.message
  return error instanceof RangeError
    ? 'The document is nested too deeply, or too large'
    : 'The document is damaged'
}

const document = await read(workerData).catch(
  (error): ReadDocument => ({ failed: wordsFor(error) }),
)
parentPort?.postMessage(document, 'lines' in document ? [document.lines.buffer] : [])
