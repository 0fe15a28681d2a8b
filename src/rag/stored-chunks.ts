import { z } from 'zod'
import type { Chunk } from './chunk.ts'
import { type ChunkLine, lineSplitter } from './lines.ts'

const stored = z.object({ text: z.string(), place: z.string(), headings: z.array(z.string()) })

export const chunkIn = (line: string): Chunk => stored.parse(JSON.parse(line))

/** The text by which a chunk is found: its headings and its own text. */
export const saidIn = ({ headings, text }: Chunk): string => [...headings, text].join('\n')

/** The lines of a blob one by one; only one part and the rest of the last are in memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ChunkLine> {
  const linesIn = lineSplitter()
  for await (const part of bytes) yield* linesIn(part)
}
