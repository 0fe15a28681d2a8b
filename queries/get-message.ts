import type { MessageView } from '../projections/messages.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import type { FindSession, OneSession } from './find-session.ts'
import type { LinkOf } from './get-content.ts'

export type MessageUses = {
  messages: View<MessageView>
  findSession: FindSession
  /** Undefined once the text's key is destroyed. */
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

type StoredCall = NonNullable<MessageView['tool_calls']>[number]

type StoredPart = NonNullable<MessageView['parts']>[number]

/** A file of a message, with a link to it. */
const partAnswer = async (
  { blob: _, at: __, name, ...part }: StoredPart,
  open: MessageUses['open'],
  linkOf: LinkOf,
) => ({
  ...part,
  ...(name === undefined ? {} : { name: (await open(name)) ?? '' }),
  url: linkOf(part.id),
})

/** A call in OpenAI's shape. */
const callAnswer = async (
  { id, name, arguments: text }: StoredCall,
  open: MessageUses['open'],
) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: (await open(text)) ?? '' },
})

export type MessageAnswer = Pick<
  MessageView,
  'event_id' | 'event_type' | 'agent' | 'created_at' | 'visibility' | 'tool_call_id'
> & {
  content: string
  tool_calls?: Awaited<ReturnType<typeof callAnswer>>[]
  parts?: Awaited<ReturnType<typeof partAnswer>>[]
}

const textAnswer = (message: MessageView, text: string | undefined): MessageAnswer => {
  const { event_id, event_type, agent, created_at, visibility, tool_call_id } = message
  const answer = { event_id, event_type, content: text ?? '', agent, created_at, visibility }
  return tool_call_id === undefined ? answer : { ...answer, tool_call_id }
}

const fullAnswer = async (
  message: MessageView,
  open: MessageUses['open'],
  linkOf: LinkOf,
): Promise<MessageAnswer> => {
  const { content, tool_calls, parts } = message
  const answer = textAnswer(message, await open(content))
  const calls = tool_calls && (await Promise.all(tool_calls.map((call) => callAnswer(call, open))))
  return {
    ...answer,
    ...(calls ? { tool_calls: calls } : {}),
    ...(parts
      ? { parts: await Promise.all(parts.map((part) => partAnswer(part, open, linkOf))) }
      : {}),
  }
}

export const messageAnswer = async (
  message: MessageView,
  open: MessageUses['open'],
  linkOf: LinkOf,
): Promise<MessageAnswer> =>
  message.tool_calls || message.parts
    ? fullAnswer(message, open, linkOf)
    : textAnswer(message, await open(message.content))

/** One message of a session. @throws session_not_found, message_not_found */
export const getMessage =
  ({ messages, findSession, open }: MessageUses) =>
  async (session: OneSession, messageId: string, linkOf: LinkOf) => {
    await findSession(session)
    const message = await messages.get(messageId)
    const { organizationId, sessionId } = session
    if (message?.organization_id !== organizationId || message.session_id !== sessionId)
      throw refusal('message_not_found')
    return messageAnswer(message, open, linkOf)
  }
export type GetMessage = ReturnType<typeof getMessage>
