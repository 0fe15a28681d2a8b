import { type SessionView, sessionDocumentId } from '../projections/sessions.ts'
import { refusal } from '../src/domain/refusal.ts'
import { isOwn, type Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'

export type OneSession = { organizationId: string; viewer: Viewer; sessionId: string }

/** One session, if it is the viewer's. @throws session_not_found */
export const findSession =
  (sessions: View<SessionView>) =>
  async ({ organizationId, viewer, sessionId }: OneSession): Promise<SessionView> => {
    const found = await sessions.get(sessionDocumentId(organizationId, sessionId))
    if (!found || !isOwn(viewer, { ownerId: found.user_id, keyId: found.key_id }))
      throw refusal('session_not_found')
    return found
  }
export type FindSession = ReturnType<typeof findSession>
