import type { OneSession } from './find-session.ts'
import { type MessageUses, shownMessage } from './get-message.ts'
import { type Page, paging, skipTo } from './page.ts'

/** A session's messages, oldest first (GET /api/external/sessions/{session_id}/messages). */
export const listMessages =
  ({ messages, findSession, open }: MessageUses) =>
  async (one: OneSession, page: Page) => {
    await findSession(one)
    const { items, total } = await messages.find({
      index: 'by_session',
      equals: [one.organizationId, one.sessionId],
      skip: skipTo(page),
      limit: page.pageSize,
    })
    return {
      session_id: one.sessionId,
      messages: await Promise.all(items.map((item) => shownMessage(item, open))),
      ...paging(total, page),
    }
  }
export type ListMessages = ReturnType<typeof listMessages>
