import { refusal } from '../../domain/refusal.ts'
import type { ChatMessage } from '../../ports/model.ts'
import type { ToolAnswer } from '../turn.ts'

/** In bytes of UTF-8 (docs/contract/limits.md#sizes). */
const mostOfMessage = 1_048_576
const mostOfRequest = 4 * mostOfMessage
/** A UTF-16 unit is at most 3 bytes of UTF-8. */
const mostBytesOfUnit = 3

const isWithin = (text: string, most: number): boolean =>
  text.length * mostBytesOfUnit <= most || Buffer.byteLength(text) <= most

type Texts = {
  message: string
  system: readonly ChatMessage[]
  before: readonly ChatMessage[]
  /** Calls and results of a turn that goes on. */
  after?: readonly ChatMessage[]
  /** Results of the client's tools, which may stand in `after` too. */
  results?: readonly ToolAnswer[] | undefined
}

const textsIn = (message: ChatMessage): string[] =>
  message.role === 'assistant' && message.toolCalls
    ? [message.content, ...message.toolCalls.map((call) => call.arguments)]
    : [message.content]

/** Refuses texts that are too long for one turn. @throws payload_too_large */
export const requireShortTexts = (asked: Texts): void => {
  const { message, system, before, after = [], results = [] } = asked
  const others = system.length + before.length + after.length + results.length
  if (others === 0 && isWithin(message, mostOfMessage)) return
  const told = new Set(after.map((one) => one.role === 'tool' && one.toolCallId))
  const alone = results.filter(({ toolId }) => !told.has(toolId)).map(({ content }) => content)
  const texts = [message, ...[...system, ...before, ...after].flatMap(textsIn), ...alone]
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
