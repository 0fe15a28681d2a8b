import { createHash } from 'node:crypto'
import type { FileType } from '../domain/file/types.ts'
import { serveTasks } from '../support/lane-tasks.ts'
import { Unreadable } from './block.ts'
import { chunksOf } from './chunk.ts'
import { chunkLine, headLine } from './chunk-lines.ts'
import { parse } from './parse/parse.ts'
import { saidIn } from './stored-chunks.ts'

export type DocumentTask = { bytes: Uint8Array<ArrayBuffer>; fileType: FileType; uploadId: string }

export type ReadDocument =
  /** `lines` are the chunks as they are stored, `hash` is their SHA-256. */
  | { lines: Uint8Array<ArrayBuffer>; hash: string; count: number }
  /** Why the file cannot be read, in words for the user who uploaded it. */
  | { failed: string }

/** What one document may have stored and indexed. */
const mostChunks = 20_000
const mostIndexed = 16 * 1_048_576

const read = async ({ bytes, fileType, uploadId }: DocumentTask): Promise<ReadDocument> => {
  if (bytes.length === 0) throw new Unreadable('The file is empty')
  const written = [headLine(uploadId)]
  let indexed = 0
  for (const chunk of chunksOf(await parse(bytes, fileType))) {
    if (written.length > mostChunks)
      throw new Unreadable(`The document has more than ${mostChunks} passages`)
    indexed += Buffer.byteLength(saidIn(chunk))
    if (indexed > mostIndexed)
      throw new Unreadable(
        `The document has more than ${mostIndexed / 1_048_576} MB of text, its headings repeated in each passage`,
      )
    written.push(chunkLine(chunk))
  }
  const count = written.length - 1
  if (count === 0) throw new Unreadable('The document has no text')
  const lines = new TextEncoder().encode(written.join(''))
  return { lines, hash: createHash('sha256').update(lines).digest('hex'), count }
}

const wordsFor = (error: unknown): string => {
  if (error instanceof Unreadable) return error.message
  return error instanceof RangeError
    ? 'The document is nested too deeply, or too large'
    : 'The document is damaged'
}

serveTasks<DocumentTask, ReadDocument>(async (task) => ({
  answer: await read(task).catch((error): ReadDocument => ({ failed: wordsFor(error) })),
}))
