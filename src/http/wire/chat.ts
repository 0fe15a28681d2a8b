import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import type { ChatMessage } from '../../ports/model.ts'
import { list, within } from '../../support/bounded-schema.ts'
import type { SentMessage, SentPart } from '../../turns/begin/sent-parts.ts'
import type { ToolAnswer } from '../../turns/turn.ts'
import { responseFormat } from './answer-format.ts'
import { clientToolFields, toolCall } from './client-tools.ts'
import { haveFewFiles, partBounds, tooManyFiles, userContent } from './content-parts.ts'
import { modelName, orAbsent, sessionId } from './fields.ts'
import { modelSettingFields, never, notOffered, unsupportedFields } from './model-settings.ts'
import { bodyOnBehalfOf } from './on-behalf-of.ts'

const text = z.object({ type: z.literal('text'), text: z.string() })

/** OpenAI's assistants answer refusals in a part of this type. */
const refusalPart = z
  .object({ type: z.literal('refusal'), refusal: z.string() })
  .transform((part) => ({ text: part.refusal }))

const contentOf = (part: z.ZodType<{ text: string }>) =>
  within(
    partBounds,
    z
      .union([z.string(), list(part)], 'A string, or an array of {type: "text", text} is expected')
      .transform((parts) =>
        typeof parts === 'string' ? parts : parts.map(({ text }) => text).join('\n'),
      ),
  )

const content = contentOf(text)

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('user'), content: userContent }),
    z.object({ role: z.enum(['system', 'developer']), content }),
    z.object({ role: z.literal('tool'), content, tool_call_id: orAbsent(z.string().max(256)) }),
    // An assistant message that only called tools has no content.
    z.object({
      role: z.literal('assistant'),
      content: contentOf(z.union([text, refusalPart])).nullish(),
      refusal: orAbsent(z.string()),
      tool_calls: orAbsent(list(toolCall)),
      function_call: notOffered(z.unknown(), never, 'Send tool_calls instead'),
      audio: notOffered(z.unknown(), never, 'No sounds were answered here'),
    }),
  ],
  'role is one of system, user, assistant, tool',
)

/** The messages of a request. */
export const chatMessages = list(message).refine(
  (all) => haveFewFiles(all.map((sent) => (sent.role === 'user' ? sent.content.parts : []))),
  tooManyFiles,
)

/**
 * Body of POST /v1/chat/completions. Unknown parameters are tolerated
 * (docs/contract/chat.md#request).
 */
export const chatBody = z.object({
  messages: chatMessages,
  model: orAbsent(modelName),
  stream: z.boolean().nullish(),
  session_id: orAbsent(sessionId),
  ...bodyOnBehalfOf.shape,
  session_hidden: orAbsent(z.boolean()),
  ...clientToolFields,
  target_agent_id: orAbsent(z.uuid()),
  stream_options: orAbsent(
    z.object({
      include_usage: z.boolean().nullish(),
      on_disconnect: z.enum(['continue', 'cancel']).nullish(),
      agent_events: orAbsent(z.enum(['plain', 'chunk', 'none'])),
      on_error: z.enum(['close', 'frame']).nullish(),
    }),
  ),
  ...modelSettingFields,
  response_format: orAbsent(responseFormat),
  ...unsupportedFields,
})

export type ChatBody = z.infer<typeof chatBody>

/**
 * The last user message is the turn's; system messages apply to it; earlier messages are its
 * history. Where tool messages come last, the turn continues with these results, and `after`
 * has the turn's earlier messages as the client sent them.
 */
export type Conversation = {
  message: string
  /** Files of the message. */
  parts: readonly SentPart[]
  system: ChatMessage[]
  before: SentMessage[]
  results?: ToolAnswer[]
  after?: ChatMessage[]
}

type Sent = ChatBody['messages'][number]

/**
 * Messages as a model is given them. Calls of which a result is missing are left out, and results
 * without a call: providers refuse both.
 */
const historyOf = (messages: readonly Sent[]): SentMessage[] => {
  if (messages.length === 0) return []
  const results = new Set(messages.map((sent) => sent.role === 'tool' && sent.tool_call_id))
  const calls = new Map<string, string>()
  return messages.flatMap((sent): SentMessage[] => {
    if (sent.role === 'user') {
      const { text, parts } = sent.content
      return [{ role: 'user', content: text, ...(parts.length > 0 ? { sent: parts } : {}) }]
    }
    if (sent.role === 'assistant') {
      const sentCalls = sent.tool_calls ?? []
      const content = sent.content ?? sent.refusal ?? ''
      if (sentCalls.length === 0) return [{ role: 'assistant', content }]
      if (!sentCalls.every(({ id }) => results.has(id)))
        return content === '' ? [] : [{ role: 'assistant', content }]
      for (const { id, function: called } of sentCalls) calls.set(id, called.name)
      const toolCalls = sentCalls.map(({ id, function: called }) => ({ id, ...called }))
      return [{ role: 'assistant', content, toolCalls }]
    }
    if (sent.role !== 'tool') return []
    const { tool_call_id: toolCallId = '', content } = sent
    const name = calls.get(toolCallId)
    if (name === undefined) return []
    calls.delete(toolCallId)
    return [{ role: 'tool', content, toolCallId, name }]
  })
}

/** The results at the end of a conversation; none where something else is said there. */
const lastResults = (messages: readonly Sent[]): ToolAnswer[] => {
  const dialogue = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  return dialogue
    .slice(dialogue.findLastIndex(({ role }) => role !== 'tool') + 1)
    .flatMap((sent) => {
      if (sent.role !== 'tool') return []
      const { tool_call_id: toolId, content } = sent
      if (toolId === undefined)
        throw refusal('missing_required_field', {
          field: 'messages',
          message: 'A result has the tool_call_id of the call that it answers',
        })
      return [{ toolId, content }]
    })
}

/** @throws missing_required_field when there is neither a user message nor a result. */
export const conversationOf = ({ messages }: Pick<ChatBody, 'messages'>): Conversation => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const lastUser = messages[last]
  const turn = lastUser?.role === 'user' ? lastUser.content : undefined
  const results = messages.some(({ role }) => role === 'tool') ? lastResults(messages) : []
  if (!turn && results.length === 0)
    throw refusal('missing_required_field', {
      field: 'messages',
      message: 'messages needs at least one with role user',
    })
  const system: ChatMessage[] = []
  for (const sent of messages)
    if (sent.role === 'system' || sent.role === 'developer')
      system.push({ role: 'system', content: sent.content })
  const conversation = {
    message: turn?.text ?? '',
    parts: turn?.parts ?? [],
    system,
    before: historyOf(messages.slice(0, Math.max(0, last))),
  }
  return results.length === 0
    ? conversation
    : { ...conversation, results, after: historyOf(messages.slice(last + 1)) }
}
