import type { SessionView } from '../projections/sessions.ts'
import { isOwn } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import type { FindSession, OneSession } from './find-session.ts'
import { type SessionClock, sessionItem } from './session-state.ts'

/** How many forks an answer names. */
const mostForks = 100

type Uses = {
  sessions: Pick<View<SessionView>, 'find'>
  findSession: FindSession
  clock: SessionClock
}

/** One session with its place among its forks (GET /api/external/sessions/{session_id}). */
export const getSession =
  ({ sessions, findSession, clock }: Uses) =>
  async (session: OneSession) => {
    const view = await findSession(session)
    const { items } = await sessions.find({
      index: 'by_source',
      equals: [session.organizationId, view.session_id],
      descending: true,
      limit: mostForks,
    })
    const own = items.filter(({ user_id, key_id }) =>
      isOwn(session.viewer, { ownerId: user_id, keyId: key_id }),
    )
    return {
      ...sessionItem(view, clock),
      hidden: view.hidden,
      forked_from: view.forked_from ?? null,
      forked_after: view.forked_after ?? null,
      forks: own.map((fork) => ({
        session_id: fork.session_id,
        forked_after: fork.forked_after ?? null,
        created_at: fork.created_at,
      })),
    }
  }
export type GetSession = ReturnType<typeof getSession>
