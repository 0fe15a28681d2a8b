import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import type { ChatMessage } from '../../ports/model.ts'
import { responseFormat } from './answer-format.ts'
import { orAbsent, sessionId } from './fields.ts'
import { modelSettingFields, unsupportedFields } from './model-settings.ts'

const text = z.object({ type: z.literal('text'), text: z.string() })

/** OpenAI's assistants answer refusals in a part of this type. */
const refusalPart = z
  .object({ type: z.literal('refusal'), refusal: z.string() })
  .transform((part) => ({ text: part.refusal }))

const contentOf = (part: z.ZodType<{ text: string }>) =>
  z
    .union([z.string(), z.array(part)], 'A string, or an array of {type: "text", text} is expected')
    .transform((parts) =>
      typeof parts === 'string' ? parts : parts.map(({ text }) => text).join('\n'),
    )

const content = contentOf(text)

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer', 'user', 'tool']), content }),
    // An assistant message that only called tools has no content.
    z.object({
      role: z.literal('assistant'),
      content: contentOf(z.union([text, refusalPart])).nullish(),
    }),
  ],
  'role is one of system, user, assistant, tool',
)

/** Body of POST /v1/chat/completions. Unknown parameters are tolerated (docs/contract/chat.md#request). */
export const chatBody = z.object({
  messages: z.array(message),
  model: orAbsent(z.string()),
  stream: z.boolean().nullish(),
  session_id: orAbsent(sessionId),
  on_behalf_of: orAbsent(z.string().min(1)),
  session_hidden: orAbsent(z.boolean()),
  target_agent_id: orAbsent(z.uuid()),
  stream_options: orAbsent(
    z.object({
      include_usage: z.boolean().nullish(),
      on_disconnect: z.enum(['continue', 'cancel']).nullish(),
      agent_events: orAbsent(z.enum(['plain', 'chunk', 'none'])),
    }),
  ),
  ...modelSettingFields,
  response_format: orAbsent(responseFormat),
  ...unsupportedFields,
})

export type ChatBody = z.infer<typeof chatBody>

/**
 * The last user message is the turn's; system messages apply to it; earlier messages are its
 * history.
 */
export type Conversation = { message: string; system: ChatMessage[]; before: ChatMessage[] }

/** @throws missing_required_field when there is no user message. */
export const conversationOf = ({ messages }: ChatBody): Conversation => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const turn = messages[last]
  if (!turn)
    throw refusal('missing_required_field', {
      field: 'messages',
      message: 'messages needs at least one with role user',
    })
  const conversation: Conversation = { message: turn.content ?? '', system: [], before: [] }
  messages.forEach(({ role, content }, n) => {
    if (role === 'system' || role === 'developer')
      conversation.system.push({ role: 'system', content })
    else if (n < last && (role === 'user' || role === 'assistant'))
      conversation.before.push({ role, content: content ?? '' })
  })
  return conversation
}
