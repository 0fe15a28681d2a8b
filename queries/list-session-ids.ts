import type { SessionView } from '../projections/sessions.ts'
import type { View } from '../src/ports/views.ts'

/** Every session of a user in an organization, through whichever key it was made. */
export const listSessionIds =
  (sessions: View<SessionView>) =>
  async (organizationId: string, userId: string): Promise<string[]> => {
    const { items } = await sessions.find({
      index: 'by_user',
      equals: [organizationId, userId],
      limit: Number.MAX_SAFE_INTEGER,
    })
    return items.map(({ session_id }) => session_id)
  }
export type ListSessionIds = ReturnType<typeof listSessionIds>
