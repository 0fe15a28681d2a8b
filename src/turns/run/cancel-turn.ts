import type { CancelPausedRunCommand } from '../../../commands/cancel-paused-run.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Delegated } from '../../security/delegate.ts'
import type { FindTurn, FoundTurn } from '../read/find-turn.ts'

type Uses = {
  findTurn: Pick<FindTurn, 'find'>
  cancelPausedRun: CancelPausedRunCommand
  waitForPosition: WaitForPosition
}

/**
 * Cancels one turn: it runs, waits for its place in the session, or for somebody's decision. Answers it as
 * it is then; one that has ended stays as it is. @throws response_not_found
 */
export const cancelTurn =
  ({ findTurn, cancelPausedRun, waitForPosition }: Uses) =>
  async ({
    call,
    viewer,
    runId,
  }: Delegated & { runId: string | undefined }): Promise<FoundTurn> => {
    const one = { organizationId: call.organizationId, viewer, runId }
    const found = await findTurn.find(one)
    const { turn, sessionId } = found
    turn?.cancel()
    // One that waits for its place is not waited for: nothing of it will be said.
    const ended = await (turn?.begun ? turn.outcome : Promise.race([turn?.outcome, undefined]))
    if (ended?.status !== 'paused') return found
    const { position } = await cancelPausedRun({ sessionId, runId: found.runId }, call)
    await waitForPosition(position)
    return findTurn.find(one)
  }
export type CancelTurn = ReturnType<typeof cancelTurn>
