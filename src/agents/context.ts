import type { ChatMessage } from '../ports/model.ts'
import { piecesOf } from './tokens.ts'

/**
 * The part of a conversation that fits a budget of tokens (estimated): every system message, and
 * as many of the newest others as fit, without a gap. It never begins with a tool's answer whose
 * call was dropped.
 */
export const trimmed = (history: readonly ChatMessage[], budget: number): ChatMessage[] => {
  let left = budget
  for (const message of history) if (message.role === 'system') left -= piecesOf(message)
  let first = history.length
  for (let n = history.length - 1; n >= 0; n--) {
    const message = history[n]
    if (!message || message.role === 'system') continue
    left -= piecesOf(message)
    if (left < 0) break
    first = n
  }
  while (history[first]?.role === 'tool') first++
  return history.filter((message, n) => message.role === 'system' || n >= first)
}
