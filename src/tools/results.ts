import type { ToolResult } from '../agents/tool.ts'

/** How much of an answer a model is given, in characters. */
const longestAnswer = 16_000

/** Something went wrong that the model is told of in these words. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

export const said = (content: string): ToolResult => ({ ok: true, content })

export const failed = (content: string): ToolResult => ({ ok: false, content })

/** Text that a model can read; says so where it is only the beginning. */
export const shown = (text: string, longest = longestAnswer): string =>
  text.length > longest
    ? `${text.slice(0, longest)}\n[cut: the first ${longest} of ${text.length} characters]`
    : text

/** A name that every model provider takes for a function. */
export const functionName = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 64) || 'tool'
