import type { ChatMessage } from '../ports/model.ts'
import { partTokens } from './parts.ts'

const pieceLength = 8

/**
 * Words in pieces of up to 8 characters, and one for every punctuation mark and every character
 * of the scripts above U+2E80. Exact for `offline/extractive`, an estimate for any other model.
 */
export const piecesIn = (text: string): number => {
  let pieces = 0
  let run = 0
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n)
    const letter =
      (code >= 97 && code <= 122) ||
      (code >= 48 && code <= 57) ||
      (code >= 65 && code <= 90) ||
      (code >= 0xc0 && code < 0x2000)
    if (letter) {
      if (run++ % pieceLength === 0) pieces++
      continue
    }
    run = 0
    if (code > 32 && code !== 0xa0) pieces++
  }
  return pieces
}

const perMessage = 4

const counted = (message: ChatMessage): number => {
  let pieces = perMessage + piecesIn(message.content)
  if (message.role === 'assistant')
    for (const call of message.toolCalls ?? [])
      pieces += perMessage + piecesIn(call.name) + piecesIn(call.arguments)
  else if (message.role !== 'tool')
    for (const part of message.parts ?? []) pieces += partTokens(part)
  return pieces
}

/** Characters of a text that is counted again rather than remembered. */
const short = 256
const known = new WeakMap<ChatMessage, number>()

/**
 * Pieces of one message with its role and tool calls; of a long one they are counted once per
 * message object.
 */
export const piecesOf = (message: ChatMessage): number => {
  if (message.content.length < short) return counted(message)
  const before = known.get(message)
  if (before !== undefined) return before
  const pieces = counted(message)
  known.set(message, pieces)
  return pieces
}

/** Pieces of a whole prompt. */
export const piecesOfAll = (messages: readonly ChatMessage[]): number => {
  let pieces = 0
  for (const message of messages) pieces += piecesOf(message)
  return pieces
}
