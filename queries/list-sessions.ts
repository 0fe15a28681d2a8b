import type { SessionView } from '../projections/sessions.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import { type Page, paging, skipTo } from './page.ts'
import { type SessionClock, sessionItem } from './session-state.ts'

type Query = { organizationId: string; viewer: Viewer; includeHidden: boolean; page: Page }

/** The viewer's sessions, most recent first (GET /api/external/sessions). */
export const listSessions =
  ({ sessions, clock }: { sessions: Pick<View<SessionView>, 'find'>; clock: SessionClock }) =>
  async ({ organizationId, viewer, includeHidden, page }: Query) => {
    const { userId, onlyKeyId } = viewer
    const { items, total } = await sessions.find({
      // `hidden` is the last field: visible sessions, and hidden ones too with `includeHidden`.
      index: onlyKeyId ? 'by_key' : 'by_user',
      equals: [organizationId, userId, ...(onlyKeyId ? [onlyKeyId] : []), false],
      ...(includeHidden ? { orLast: [true] } : {}),
      descending: true,
      skip: skipTo(page),
      limit: page.pageSize,
    })
    return {
      sessions: items.map((view) => sessionItem(view, clock)),
      ...paging(total, page),
    }
  }
export type ListSessions = ReturnType<typeof listSessions>
