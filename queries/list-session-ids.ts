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
    const of = { index: 'by_user', limit: Number.MAX_SAFE_INTEGER }
    const owner = [organizationId, userId]
    const [known, unfinished] = await Promise.all([
      sessions.find({ ...of, equals: [...owner, false], orLast: [true] }),
      forks.find({ ...of, equals: owner }),
    ])
    return [...known.items, ...unfinished.items].map(({ session_id }) => session_id)
  }
export type ListSessionIds = ReturnType<typeof listSessionIds>
