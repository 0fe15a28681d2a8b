import type { EraseSessionCommand } from '../../../commands/erase-session.ts'
import type { ListSessionIds } from '../../../queries/list-session-ids.ts'
import type { Position } from '../../domain/event.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import { UnreadableEvent } from '../../ports/event-store.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Turns } from '../run/turns.ts'
import type { EraseContents } from './erase-contents.ts'

type Uses = {
  eraseSession: EraseSessionCommand
  eraseContents: EraseContents
  listSessionIds: ListSessionIds
  turns: Pick<Turns, 'cancel' | 'forget'>
  waitForPosition: WaitForPosition
  /** The last position of the log. */
  head(): Promise<Position>
}

/** If a session has an unreadable event, its run ends with the erasure. */
const leftToErasure = (error: unknown): void => {
  if (!(error instanceof UnreadableEvent)) throw error
}

type OneSession = { userId: string; sessionId: string }

/**
 * Erases conversations of a user for good. Running turns are cancelled first, so their end is
 * stored before the session's key is destroyed. Content that was generated in them is erased too,
 * and memories of their turns are forgotten.
 */
export const eraseSessions = (uses: Uses) => {
  const { eraseSession, eraseContents, listSessionIds, turns, waitForPosition, head } = uses

  const erase = async (session: OneSession, call: Call) => {
    const place = { organizationId: call.organizationId, sessionId: session.sessionId }
    await turns.cancel(place, call).catch(leftToErasure)
    const erased = await eraseSession(session, call, () => eraseContents(session.sessionId, call))
    turns.forget(place)
    return erased
  }

  /** False when the session is gone: each of two erasures at once counts only what it erased. */
  const wasErased = (session: OneSession, call: Call): Promise<boolean> =>
    erase(session, call).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal && error.code === 'session_not_found') return false
        throw error
      },
    )

  return {
    /** Resolves when the views show it. @throws session_not_found */
    async one(session: OneSession, call: Call): Promise<void> {
      const { position } = await erase(session, call)
      await waitForPosition(position)
    },
    /** All sessions of a user as they are now; answers how many were erased. */
    async all(userId: string, call: Call): Promise<number> {
      await waitForPosition(await head())
      let count = 0
      for (const sessionId of await listSessionIds(call.organizationId, userId))
        if (await wasErased({ userId, sessionId }, call)) count++
      await waitForPosition(await head())
      return count
    },
  }
}
export type EraseSessions = ReturnType<typeof eraseSessions>
