import type { Block } from '../block.ts'
import { decodedText } from '../decode-text.ts'

/** Paragraphs, separated by blank lines. */
export const parseText = (bytes: Uint8Array): Block[] => {
  const blocks: Block[] = []
  let lines: string[] = []
  const close = (next: number): void => {
    if (lines.length > 0)
      blocks.push({ text: lines.join('\n'), place: `line ${next - lines.length}` })
    lines = []
  }
  const all = decodedText(bytes).split('\n')
  for (const [n, line] of all.entries())
    if (line.trim() === '') close(n + 1)
    else lines.push(line)
  close(all.length + 1)
  return blocks
}
