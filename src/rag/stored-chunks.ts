import { z } from 'zod'
import type { Chunk } from './chunk.ts'
import { type ChunkLine, lineSplitter } from './lines.ts'

const stored = z.object({
  text: z.string(),
  place: z.string(),
  headings: z.array(z.string()),
  variants: z.array(z.string()).optional(),
})

export const chunkIn = (line: string): Chunk => stored.parse(JSON.parse(line))

/** Where a chunk is, with the headings above it: `line 12, Leave › Sick leave`. */
export const placeIn = ({ place, headings }: Chunk): string =>
  headings.length > 0 ? `${place}, ${headings.join(' › ')}` : place

/** The text by which a chunk is found: its headings, its own text, and other forms of its words. */
export const searchableText = ({ headings, text, variants = [] }: Chunk): string =>
  [...headings, text, ...variants].join('\n')

/** The lines of a blob one by one; only one part and the rest of the last are in memory. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ChunkLine> {
  const linesIn = lineSplitter()
  for await (const part of bytes) yield* linesIn(part)
}
