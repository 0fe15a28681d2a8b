import { refusal } from '../../domain/refusal.ts'
import type { ChatMessage } from '../../ports/model.ts'
import type { TurnInput } from './turn-input.ts'

/** In bytes of UTF-8 (docs/contract/limits.md#sizes). */
const mostOfMessage = 1_048_576
const mostOfRequest = 4 * mostOfMessage
/** A UTF-16 unit is at most 3 bytes of UTF-8. */
const mostBytesOfUnit = 3

const isWithin = (text: string, most: number): boolean =>
  text.length * mostBytesOfUnit <= most || Buffer.byteLength(text) <= most

const textsIn = (message: ChatMessage): string[] =>
  message.role === 'assistant' && message.toolCalls
    ? [message.content, ...message.toolCalls.map((call) => call.arguments)]
    : [message.content]

/** Texts of an input; results of tools that are in `after` too are there once. */
const textsOf = (input: TurnInput): string[] => {
  const { system } = input
  if (input.kind === 'regenerate') return system.flatMap(textsIn)
  const { text, history } = input
  const texts = [text, ...system.flatMap(textsIn), ...history.flatMap(textsIn)]
  if (input.kind === 'message') return texts
  const { results, after } = input
  const calls = new Set(after.map((message) => message.role === 'tool' && message.toolCallId))
  const others = results.filter(({ toolId }) => !calls.has(toolId))
  return [...texts, ...after.flatMap(textsIn), ...others.map(({ content }) => content)]
}

/** Whether an input is one short message, as most are. */
const isShort = (input: TurnInput): boolean =>
  input.kind === 'message' &&
  input.system.length + input.history.length === 0 &&
  isWithin(input.text, mostOfMessage)

/** Refuses texts that are too long for one turn. @throws payload_too_large */
export const requireTextLimits = (input: TurnInput): void => {
  if (isShort(input)) return
  const texts = textsOf(input)
  if (!texts.every((text) => isWithin(text, mostOfMessage)))
    throw refusal('payload_too_large', { message: 'A message is larger than 1 MB' })
  const units = texts.reduce((sum, { length }) => sum + length, 0)
  if (units * mostBytesOfUnit <= mostOfRequest) return
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > mostOfRequest)
    throw refusal('payload_too_large', {
      message: 'The messages of a request are larger than 4 MB together',
    })
}
