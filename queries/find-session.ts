import { type SessionView, sessionDocumentId } from '../projections/sessions.ts'
import { refusal } from '../src/domain/refusal.ts'
import { isOwn, type Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'

export type OneSession = { organizationId: string; viewer: Viewer; sessionId: string }

/** One session, if it is the viewer's. @throws session_not_found */
export const findSession =
  ({ sessions }: { sessions: View<SessionView> }) =>
  async ({ organizationId, viewer, sessionId }: OneSession): Promise<SessionView> => {
    const session = await sessions.get(sessionDocumentId(organizationId, sessionId))
    if (!session || !isOwn(viewer, { ownerId: session.user_id, keyId: session.key_id }))
      throw refusal('session_not_found')
    return session
  }
export type FindSession = ReturnType<typeof findSession>
