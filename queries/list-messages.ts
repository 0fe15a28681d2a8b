import type { MessageView } from '../projections/messages.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import type { FindSession, OneSession } from './find-session.ts'
import { type Page, paging, skipTo } from './page.ts'

type Uses = {
  messages: View<MessageView>
  findSession: FindSession
  /** Undefined once the text's key is destroyed. */
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** A session's messages, oldest first (GET /api/external/sessions/{session_id}/messages). */
export const listMessages =
  ({ messages, findSession, open }: Uses) =>
  async (one: OneSession, page: Page) => {
    await findSession(one)
    const { items, total } = await messages.find({
      index: 'by_session',
      equals: [one.organizationId, one.sessionId],
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const shown = items.map(async ({ event_id, event_type, content, agent, ...rest }) => ({
      event_id,
      event_type,
      content: (await open(content)) ?? '',
      agent,
      created_at: rest.created_at,
      visibility: rest.visibility,
    }))
    return {
      session_id: one.sessionId,
      messages: await Promise.all(shown),
      ...paging(total, page),
    }
  }
export type ListMessages = ReturnType<typeof listMessages>
