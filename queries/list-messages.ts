import type { MessageView } from '../projections/messages.ts'
import type { Sized } from '../src/support/in-parts.ts'
import type { OneSession } from './find-session.ts'
import type { LinkOf } from './get-content.ts'
import { type MessageUses, type ShownMessage, shownMessage } from './get-message.ts'
import type { Page } from './page.ts'
import { readPage } from './read-page.ts'

const sized = (value: ShownMessage): Sized<ShownMessage> => {
  let bytes = value.content.length
  for (const call of value.tool_calls ?? []) bytes += call.function.arguments.length
  return { value, bytes }
}

/** A session's messages, oldest first (GET /api/external/sessions/{session_id}/messages). */
export const listMessages =
  ({ messages, findSession, open }: MessageUses) =>
  async (one: OneSession, page: Page, linkOf: LinkOf) => {
    const { message_count: total } = await findSession(one)
    const shown = (item: MessageView) => {
      const message = shownMessage(item, open, linkOf)
      return message instanceof Promise ? message.then(sized) : sized(message)
    }
    const of = { index: 'by_session', equals: [one.organizationId, one.sessionId], total }
    const { items, paging } = await readPage(messages, of, page, shown)
    return { session_id: one.sessionId, messages: items, ...paging }
  }
export type ListMessages = ReturnType<typeof listMessages>
