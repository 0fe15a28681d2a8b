import type { FindSession } from '../../../queries/find-session.ts'
import type { Turns } from '../run/turns.ts'

type Uses = { waitUntilShown: Turns['waitUntilShown']; findSession: FindSession }

/**
 * One session with its running turn: a client that reads the first token of an answer and then asks
 * for the session finds its message and its status there, however far the views are behind.
 * @throws session_not_found
 */
export const findCurrentSession =
  ({ waitUntilShown, findSession }: Uses): FindSession =>
  async (query) => {
    await waitUntilShown(query)
    return findSession(query)
  }
