import type { SessionView } from '../projections/sessions.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import { type Page, paging, skipTo } from './page.ts'
import { type SessionClock, stateOf } from './session-state.ts'

type Query = { organizationId: string; viewer: Viewer; includeHidden: boolean; page: Page }

type SessionItem = Pick<
  SessionView,
  'session_id' | 'created_at' | 'last_update_time' | 'is_active' | 'message_count' | 'forked_from'
> &
  ReturnType<typeof stateOf>

const sessionItem = (view: SessionView, clock: SessionClock): SessionItem => {
  const { session_id, created_at, last_update_time, is_active, message_count, forked_from } = view
  const item: SessionItem = { session_id, created_at, last_update_time, is_active, message_count }
  if (forked_from !== undefined) item.forked_from = forked_from
  const { state } = stateOf(view.run, clock)
  if (state) item.state = state
  return item
}

/** The viewer's sessions, most recent first (GET /api/external/sessions). */
export const listSessions =
  ({ sessions, clock }: { sessions: Pick<View<SessionView>, 'find'>; clock: SessionClock }) =>
  async ({ organizationId, viewer, includeHidden, page }: Query) => {
    const { userId, onlyKeyId } = viewer
    const { items, total } = await sessions.find({
      // The last value is `hidden`: false, or true as well.
      index: onlyKeyId ? 'by_key' : 'by_user',
      equals: onlyKeyId
        ? [organizationId, userId, onlyKeyId, false]
        : [organizationId, userId, false],
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
