import { createReadStream } from 'node:fs'

/**
 * Splits UTF-8 text into lines without their line breaks, in batches, including a last line without
 * one.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const part of bytes) {
    const text = decoder.decode(part, { stream: true })
    const end = text.lastIndexOf('\n')
    if (end < 0) {
      rest += text
      continue
    }
    yield `${rest}${text.slice(0, end)}`.split('\n')
    rest = text.slice(end + 1)
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}

/** The lines of a file. */
export const linesIn = (path: string): AsyncGenerator<readonly string[]> =>
  linesOf(createReadStream(path, { highWaterMark: 1024 * 1024 }))
