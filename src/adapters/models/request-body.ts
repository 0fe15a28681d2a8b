import { randomUUID } from 'node:crypto'
import type { ContentPart } from '../../ports/model.ts'

/** How many characters bytes have in base64. */
const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3)

/** Bytes in base64, piece by piece; a piece ends where three bytes end. */
async function* inBase64({ read, bytes }: ContentPart): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  let size = 0
  for await (const piece of read()) {
    size += piece.length
    const joined = rest.length > 0 ? Buffer.concat([rest, piece]) : Buffer.from(piece)
    const even = joined.length - (joined.length % 3)
    // The piece may be overwritten by the next.
    rest = Buffer.from(joined.subarray(even))
    if (even > 0) yield joined.toString('base64', 0, even)
  }
  if (rest.length > 0) yield rest.toString('base64')
  if (size !== bytes) throw new Error('a part of a message has not the size that was stored')
}

export type RequestBody = {
  /** In bytes; absent where the body is a text. */
  length?: number
  body: () => string | AsyncIterable<string>
}

/**
 * JSON in which `file(part)` stands for a part's bytes in base64. They are read as they are sent,
 * so they are never all in memory; the length is known before.
 */
export const requestBody = (
  build: (file: (part: ContentPart) => string) => unknown,
): RequestBody => {
  let marks: Map<string, ContentPart> | undefined
  const text = JSON.stringify(
    build((part) => {
      const mark = randomUUID()
      marks ??= new Map()
      marks.set(mark, part)
      return mark
    }),
  )
  if (!marks) return { body: () => text }
  const pieces: (string | ContentPart)[] = []
  let at = 0
  // In the order in which they were asked for, which is that of the text.
  for (const [mark, part] of marks) {
    const place = text.indexOf(mark, at)
    pieces.push(text.slice(at, place), part)
    at = place + mark.length
  }
  pieces.push(text.slice(at))
  const lengths = pieces.map((piece) =>
    typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece.bytes),
  )
  return {
    length: lengths.reduce((sum, length) => sum + length, 0),
    async *body() {
      for (const piece of pieces)
        if (typeof piece === 'string') yield piece
        else yield* inBase64(piece)
    },
  }
}
