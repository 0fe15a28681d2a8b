import type { MessageView } from '../projections/messages.ts'
import type { Sized } from '../src/support/in-parts.ts'
import type { OneSession } from './find-session.ts'
import type { LinkOf } from './get-content.ts'
import { type MessageAnswer, type MessageUses, messageAnswer } from './get-message.ts'
import type { Page } from './page.ts'
import { readPage } from './read-page.ts'

const sized = (value: MessageAnswer): Sized<MessageAnswer> => {
  let bytes = value.content.length
  for (const call of value.tool_calls ?? []) bytes += call.function.arguments.length
  return { value, bytes }
}

/** A session's messages, oldest first (GET /api/external/sessions/{session_id}/messages). */
export const listMessages =
  ({ messages, findSession, open }: MessageUses) =>
  async (session: OneSession, page: Page, linkOf: LinkOf) => {
    const { message_count: total } = await findSession(session)
    const itemOf = async (item: MessageView) => sized(await messageAnswer(item, open, linkOf))
    const of = { index: 'by_session', equals: [session.organizationId, session.sessionId], total }
    const { items, paging } = await readPage(messages, of, page, itemOf)
    return { session_id: session.sessionId, messages: items, ...paging }
  }
export type ListMessages = ReturnType<typeof listMessages>
