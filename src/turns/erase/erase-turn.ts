import type { RunView } from '../../../projections/runs.ts'
import { refusal } from '../../domain/refusal.ts'
import type { View } from '../../ports/views.ts'
import type { Delegated } from '../../security/delegate.ts'
import { asUnknownTurn, type FindTurn } from '../read/find-turn.ts'
import type { EraseSessions } from './erase-sessions.ts'

type Uses = {
  findTurn: Pick<FindTurn, 'placeOf'>
  eraseSessions: Pick<EraseSessions, 'one'>
  runs: Pick<View<RunView>, 'find'>
}

type EraseTurnRequest = Delegated & {
  runId: string | undefined
  /** The session may have other turns, which go too. */
  wholeSession: boolean
}

/**
 * Erases a turn with its session: one key seals all of a session's texts, so that less cannot be
 * erased. @throws response_not_found, and response_continued where the session has other turns
 */
export const eraseTurn =
  ({ findTurn, eraseSessions, runs }: Uses) =>
  async ({ call, viewer, runId, wholeSession }: EraseTurnRequest): Promise<void> => {
    const { organizationId } = call
    const { sessionId } = await findTurn.placeOf({ organizationId, viewer, runId })
    const { total } = await runs.find({
      index: 'by_session',
      equals: [organizationId, sessionId],
      limit: 1,
    })
    if (total > 1 && !wholeSession)
      throw refusal('response_continued', {
        message: 'Its conversation has other turns: with conversation=true all of it is erased',
      })
    // Another request may have erased it meanwhile.
    await eraseSessions.one({ userId: viewer.userId, sessionId }, call).catch(asUnknownTurn)
  }
export type EraseTurn = ReturnType<typeof eraseTurn>
