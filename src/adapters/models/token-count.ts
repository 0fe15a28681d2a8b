import { partTokens } from '../../agents/parts.ts'
import { piecesIn } from '../../agents/tokens.ts'
import type { ChatMessage, ModelRequest, ToolCall, Usage } from '../../ports/model.ts'
import { cutText } from '../../support/cut-text.ts'

const longestRun = 512

/** A long run without a space, or of spaces only: the tokenizer takes quadratic time on it. */
const unbroken = (text: string): boolean => {
  let run = 0
  let spaces = false
  for (let n = 0; n < text.length; n++) {
    const space = text.charCodeAt(n) <= 32
    run = space === spaces ? run + 1 : 1
    spaces = space
    if (run > longestRun) return true
  }
  return false
}

const perMessage = 4

/** o200k_base, loaded at first use: its tables take 150 ms and some memory. */
const tokenizer = async () => {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  const options = { disallowedSpecial: new Set<string>() }
  return (text: string) => (unbroken(text) ? piecesIn(text) : countTokens(text, options))
}

const callText = (calls: readonly ToolCall[]) =>
  calls.map(({ name, arguments: args }) => `${name} ${args}`).join('\n')

const messageText = (message: ChatMessage) =>
  message.role === 'assistant' && message.toolCalls
    ? `${message.content}\n${callText(message.toolCalls)}`
    : message.content

/** How much of a prompt or an answer is counted: at most some milliseconds. */
const countedLength = 4_096

/**
 * Tokens of texts: counted in the first 4,096 characters; the rest is taken to have as many tokens
 * a character. The same texts always give the same number.
 */
const tokensOf = (texts: readonly string[], tokensIn: (text: string) => number): number => {
  let tokens = 0
  let counted = 0
  let length = 0
  for (const text of texts) {
    const head = cutText(text, countedLength - counted)
    length += text.length
    if (head === '') continue
    tokens += tokensIn(head)
    counted += head.length
  }
  return counted === length ? tokens : Math.ceil((tokens / counted) * length)
}

/** For providers that report no usage. */
export const countedUsage = async (
  { messages, tools, format }: ModelRequest,
  completion: string,
  calls: readonly ToolCall[],
): Promise<Usage> => {
  const tokensIn = await tokenizer()
  const prompt = [
    ...messages.map(messageText),
    ...[tools, format].flatMap((value) => (value ? [JSON.stringify(value)] : [])),
  ]
  const files = messages.flatMap((message) => ('parts' in message ? (message.parts ?? []) : []))
  const fileTokens = files.reduce((sum, part) => sum + partTokens(part), 0)
  return {
    promptTokens: perMessage * messages.length + tokensOf(prompt, tokensIn) + fileTokens,
    completionTokens: tokensOf([completion, callText(calls)], tokensIn),
  }
}
