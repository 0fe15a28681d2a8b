import { createHash } from 'node:crypto'
import type { FileType } from '../domain/file/types.ts'
import { serveTasks } from '../support/serve-tasks.ts'
import { Unreadable } from './block.ts'
import { chunksOf } from './chunk.ts'
import { chunkLine, headLine } from './chunk-lines.ts'
import { parse } from './parse/parse.ts'
import { searchableText } from './stored-chunks.ts'

/** The document's bytes come on standard input. */
export type DocumentTask = { fileType: FileType; uploadId: string }

export type DocumentAnswer =
  /**
   * How many chunks there are; they go to standard output as they are stored, `hash` is their
   * SHA-256. `warnings` name what cannot be read of the file.
   */
  | { hash: string; count: number; warnings: readonly string[] }
  /** Why the file cannot be read, in words for the user who uploaded it. */
  | { failed: string }

/** What one document may have stored and indexed. */
const mostChunks = 20_000
const mostIndexed = 16 * 1_048_576

const arrived = async (): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(Buffer.concat(await process.stdin.toArray()))

const read = async ({ fileType, uploadId }: DocumentTask) => {
  const bytes = await arrived()
  if (bytes.length === 0) throw new Unreadable('The file is empty')
  const lines = [headLine(uploadId)]
  const warnings: string[] = []
  const blocks = await parse(bytes, fileType, (warning) => warnings.push(warning))
  let indexed = 0
  for (const chunk of chunksOf(blocks)) {
    if (lines.length > mostChunks)
      throw new Unreadable(`The document has more than ${mostChunks} passages`)
    indexed += Buffer.byteLength(searchableText(chunk))
    if (indexed > mostIndexed)
      throw new Unreadable(
        `The document has more than ${mostIndexed / 1_048_576} MB of text, its headings repeated in each passage`,
      )
    lines.push(chunkLine(chunk))
  }
  const count = lines.length - 1
  if (count === 0) throw new Unreadable('The document has no text')
  const output = new TextEncoder().encode(lines.join(''))
  const hash = createHash('sha256').update(output).digest('hex')
  return { answer: { hash, count, warnings }, output }
}

const wordsFor = (error: unknown): string => {
  if (error instanceof Unreadable) return error.message
  return error instanceof RangeError
    ? 'The document is nested too deeply, or too large'
    : 'The document is damaged'
}

serveTasks<DocumentTask, DocumentAnswer>((task) =>
  read(task).catch((error) => ({ answer: { failed: wordsFor(error) } })),
)
