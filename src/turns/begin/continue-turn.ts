import { refusal } from '../../domain/refusal.ts'
import type { Delegated } from '../../security/delegate.ts'
import type { ForkSessions } from '../fork/fork-sessions.ts'
import type { FindTurn } from '../read/find-turn.ts'
import type { PlacedMessage, TurnPlace } from './begin-turn.ts'

type Uses = { findTurn: Pick<FindTurn, 'placeOf'>; forkSessions: Pick<ForkSessions, 'fork'> }

/**
 * Where a turn goes on that follows another one: in the session of that one, or, once the session
 * has gone on, in a fork that ends with it. Results of the client's tools are for a turn that
 * waits, which a fork has none of. @throws response_not_found, response_continued
 */
export const goOn =
  ({ findTurn, forkSessions }: Uses) =>
  (runId: string, hasResults: boolean) =>
  async ({ call, viewer }: Delegated, placed: PlacedMessage): Promise<TurnPlace> => {
    const { organizationId } = call
    const { sessionId, isLatest, lastMessageId } = await findTurn.placeOf({
      organizationId,
      viewer,
      runId,
    })
    if (isLatest || placed.sessionId === sessionId) return { sessionId, follows: runId }
    if (placed.sessionId !== undefined) return { sessionId: placed.sessionId }
    if (hasResults || lastMessageId === undefined) throw refusal('response_continued')
    const forked = await forkSessions.fork(
      { viewer, sessionId, at: { after: lastMessageId }, forkSessionId: undefined },
      call,
    )
    return { sessionId: forked.sessionId }
  }
export type GoOn = ReturnType<typeof goOn>
