/** A line in a blob: its number, the first one being 0, and its bytes, both ends included. */
export type ChunkLine = { number: number; text: string; start: number; end: number }

const newline = 0x0a

/** Takes a blob part by part, and gives the lines that each part completes. */
export const lineSplitter = () => {
  let rest: Buffer = Buffer.alloc(0)
  let start = 0
  let number = 0
  return (part: Uint8Array): ChunkLine[] => {
    const lines: ChunkLine[] = []
    rest = Buffer.concat([rest, part])
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      const text = rest.toString('utf8', 0, end)
      lines.push({ number, text, start, end: start + end - 1 })
      rest = rest.subarray(end + 1)
      start += end + 1
      number++
    }
    return lines
  }
}
