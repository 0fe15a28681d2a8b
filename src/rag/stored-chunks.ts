import { z } from 'zod'
import type { Chunk } from './chunk.ts'

const stored = z.object({ text: z.string(), place: z.string(), headings: z.array(z.string()) })

export const chunkIn = (line: string): Chunk => stored.parse(JSON.parse(line))

/** The text by which a chunk is found: its headings and its own text. */
export const saidIn = ({ headings, text }: Chunk): string => [...headings, text].join('\n')

/** A line in a blob: its number, the first one being 0, and its bytes, both ends included. */
export type ChunkLine = { number: number; text: string; start: number; end: number }

const newline = 0x0a

/** The lines of a blob one by one; only one line and the last read part are in memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ChunkLine> {
  let rest: Buffer = Buffer.alloc(0)
  let start = 0
  let number = 0
  for await (const part of bytes) {
    rest = Buffer.concat([rest, part])
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      const text = rest.toString('utf8', 0, end)
      yield { number, text, start, end: start + end - 1 }
      rest = rest.subarray(end + 1)
      start += end + 1
      number++
    }
  }
}
