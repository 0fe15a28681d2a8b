import { createHash } from 'node:crypto'
import type { ToolResult } from '../agents/tool.ts'
import { cutText } from '../support/cut-text.ts'

/** The longest result for a model, in characters. */
export const longestAnswer = 16_000

/** A failure; the message is the result for the model. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

export const success = (content: string): ToolResult => ({ ok: true, content })

export const failure = (content: string): ToolResult => ({ ok: false, content })

/**
 * The text of a result, in which halves of surrogate pairs are U+FFFD. A text that was cut, here or
 * before from `total` characters, says so.
 */
export const resultText = (text: string, longest = longestAnswer, total = text.length): string => {
  const clean = text.toWellFormed()
  return text.length > longest || total > longest
    ? `${cutText(clean, longest)}\n[cut: the first ${longest} of ${Math.max(total, text.length)} characters]`
    : clean
}

const longestFunctionName = 64

/** A function name that every model provider accepts. */
export const functionName = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, longestFunctionName) || 'tool'

/** The same name for a tool that another tool's name would hide: it ends in a digest of `seed`. */
export const distinctName = (name: string, seed: string): string => {
  const digest = createHash('sha256').update(seed).digest('hex').slice(0, 8)
  return `${name.slice(0, longestFunctionName - digest.length - 1)}_${digest}`
}
