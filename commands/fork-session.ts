import type { Position } from '../src/domain/event.ts'
import { decideFork, type ForkPiece } from '../src/domain/session/fork.ts'
import { type Session, sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ForkSession = ForkPiece & {
  sessionId: string
  /** The id was made for this fork, and nothing of it is stored. */
  isNew: boolean
}

/**
 * Stores the next messages of a fork, in one append; the last of them make it a session. What was
 * stored before is not stored again. @throws session_exists, session_not_found
 */
export const forkSession =
  ({ transact }: { transact: Transact }) =>
  async (
    { sessionId, isNew, ...piece }: ForkSession,
    call: Call,
  ): Promise<{ state: Session; position: Position }> => {
    const stream = { ...sessionStream(call.organizationId, sessionId), isNew }
    return transact(stream, decideFork(piece), call)
  }
export type ForkSessionCommand = ReturnType<typeof forkSession>
