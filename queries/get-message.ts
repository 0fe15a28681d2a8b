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
const shownPart = async (
  { blob: _, at: __, name, ...part }: StoredPart,
  open: MessageUses['open'],
  linkOf: LinkOf,
) => ({
  ...part,
  ...(name === undefined ? {} : { name: (await open(name)) ?? '' }),
  url: linkOf(part.id),
})

/** A call in OpenAI's shape. */
const shownCall = async ({ id, name, arguments: text }: StoredCall, open: MessageUses['open']) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: (await open(text)) ?? '' },
})

export const shownMessage = async (
  message: MessageView,
  open: MessageUses['open'],
  linkOf: LinkOf,
) => {
  const { event_id, event_type, content, agent, created_at, visibility } = message
  const { tool_calls, tool_call_id, parts } = message
  const text = (await open(content)) ?? ''
  const calls = tool_calls && (await Promise.all(tool_calls.map((one) => shownCall(one, open))))
  return {
    event_id,
    event_type,
    content: text,
    agent,
    created_at,
    visibility,
    ...(calls ? { tool_calls: calls } : {}),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(parts
      ? { parts: await Promise.all(parts.map((part) => shownPart(part, open, linkOf))) }
      : {}),
  }
}

export type ShownMessage = Awaited<ReturnType<typeof shownMessage>>

/** One message of a session. @throws session_not_found, message_not_found */
export const getMessage =
  ({ messages, findSession, open }: MessageUses) =>
  async (one: OneSession, messageId: string, linkOf: LinkOf) => {
    await findSession(one)
    const found = await messages.get(messageId)
    const { organizationId, sessionId } = one
    if (found?.organization_id !== organizationId || found.session_id !== sessionId)
      throw refusal('message_not_found')
    return shownMessage(found, open, linkOf)
  }
export type GetMessage = ReturnType<typeof getMessage>
