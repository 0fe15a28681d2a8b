import type { SessionView } from '../projections/sessions.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import { type Page, paging, skipTo } from './page.ts'
import { stateOf } from './session-state.ts'

type Ask = { organizationId: string; viewer: Viewer; includeHidden: boolean; page: Page }

/** The viewer's sessions, most recent first (GET /api/external/sessions). */
export const listSessions =
  ({ sessions, now }: { sessions: Pick<View<SessionView>, 'find'>; now(): Date }) =>
  async ({ organizationId, viewer, includeHidden, page }: Ask) => {
    const { userId, onlyKeyId } = viewer
    const { items, total } = await sessions.find({
      index: onlyKeyId ? 'by_key' : 'by_user',
      equals: onlyKeyId
        ? [organizationId, userId, onlyKeyId, false]
        : [organizationId, userId, false],
      ...(includeHidden ? { orLast: [true] } : {}),
      descending: true,
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const at = now()
    return {
      sessions: items.map(({ session_id, created_at, last_update_time, is_active, ...view }) => ({
        session_id,
        created_at,
        last_update_time,
        is_active,
        message_count: view.message_count,
        ...(view.forked_from === undefined ? {} : { forked_from: view.forked_from }),
        ...stateOf(view.run, at),
      })),
      ...paging(total, page),
    }
  }
export type ListSessions = ReturnType<typeof listSessions>
