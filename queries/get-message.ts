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

export type ShownMessage = Pick<
  MessageView,
  'event_id' | 'event_type' | 'agent' | 'created_at' | 'visibility' | 'tool_call_id'
> & {
  content: string
  tool_calls?: Awaited<ReturnType<typeof shownCall>>[]
  parts?: Awaited<ReturnType<typeof shownPart>>[]
}

const shownWith = (message: MessageView, text: string | undefined): ShownMessage => {
  const { event_id, event_type, agent, created_at, visibility, tool_call_id } = message
  const shown = { event_id, event_type, content: text ?? '', agent, created_at, visibility }
  return tool_call_id === undefined ? shown : { ...shown, tool_call_id }
}

const shownWhole = async (
  message: MessageView,
  open: MessageUses['open'],
  linkOf: LinkOf,
): Promise<ShownMessage> => {
  const { content, tool_calls, parts } = message
  const shown = shownWith(message, await open(content))
  const calls = tool_calls && (await Promise.all(tool_calls.map((one) => shownCall(one, open))))
  return {
    ...shown,
    ...(calls ? { tool_calls: calls } : {}),
    ...(parts
      ? { parts: await Promise.all(parts.map((part) => shownPart(part, open, linkOf))) }
      : {}),
  }
}

/** Without a promise where there is but a text, and its key is in memory. */
export const shownMessage = (
  message: MessageView,
  open: MessageUses['open'],
  linkOf: LinkOf,
): ShownMessage | Promise<ShownMessage> => {
  if (message.tool_calls || message.parts) return shownWhole(message, open, linkOf)
  const text = open(message.content)
  return text instanceof Promise
    ? text.then((opened) => shownWith(message, opened))
    : shownWith(message, text)
}

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
