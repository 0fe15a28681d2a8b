import type { ForkView } from '../projections/forks.ts'
import type { SessionView } from '../projections/sessions.ts'
import type { View } from '../src/ports/views.ts'

type Uses = { sessions: View<SessionView>; forks: View<ForkView> }

/**
 * Every session of a user in an organization, through whichever key it was made, and every fork that
 * is not finished.
 */
export const listSessionIds =
  ({ sessions, forks }: Uses) =>
  async (organizationId: string, userId: string): Promise<string[]> => {
    const all = {
      index: 'by_user',
      equals: [organizationId, userId],
      limit: Number.MAX_SAFE_INTEGER,
    }
    const [known, unfinished] = await Promise.all([sessions.find(all), forks.find(all)])
    return [...known.items, ...unfinished.items].map(({ session_id }) => session_id)
  }
export type ListSessionIds = ReturnType<typeof listSessionIds>
