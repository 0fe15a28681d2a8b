import type { ForkView } from '../projections/forks.ts'
import type { SessionView } from '../projections/sessions.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'
import { readInOrder } from './read-in-order.ts'

type Uses = { sessions: View<SessionView>; forks: View<ForkView> }

/**
 * Every session of a user in an organization, through whichever key it was made, and every fork
 * that is not finished.
 */
export const listSessionIds =
  ({ sessions, forks }: Uses) =>
  async (organizationId: string, userId: string): Promise<string[]> => {
    const owner = [organizationId, userId]
    // Read first: a fork that is finished meanwhile appears among the sessions.
    const unfinished = await findAll(forks, { index: 'by_user', equals: owner })
    const ids = new Set(unfinished.map(({ session_id }) => session_id))
    const of = { index: 'by_user', equals: [...owner, false], orLast: [true] }
    for await (const some of readInOrder(sessions, of))
      for (const { session_id } of some) ids.add(session_id)
    return [...ids]
  }
export type ListSessionIds = ReturnType<typeof listSessionIds>
