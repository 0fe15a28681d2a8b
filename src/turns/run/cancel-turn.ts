import type { CancelPausedRunCommand } from '../../../commands/cancel-paused-run.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Delegated } from '../../security/delegate.ts'
import type { FindTurn, ViewerTurn } from '../read/find-turn.ts'

type Uses = {
  findTurn: Pick<FindTurn, 'find'>
  cancelPausedRun: CancelPausedRunCommand
  waitForPosition: WaitForPosition
}

/**
 * Cancels one turn that runs, waits for its place in the session, or is paused. Returns it as it is
 * then; an ended turn stays as it is. @throws response_not_found
 */
export const cancelTurn =
  ({ findTurn, cancelPausedRun, waitForPosition }: Uses) =>
  async ({
    call,
    viewer,
    runId,
  }: Delegated & { runId: string | undefined }): Promise<ViewerTurn> => {
    const query = { organizationId: call.organizationId, viewer, runId }
    const current = await findTurn.find(query)
    const { turn, sessionId } = current
    turn?.cancel()
    // A turn without its place ends by itself: nothing of it will be answered.
    const outcome = await (turn?.beginning
      ? turn.outcome
      : Promise.race([turn?.outcome, undefined]))
    if (outcome?.status !== 'paused') return current
    const { position } = await cancelPausedRun({ sessionId, runId: current.runId }, call)
    await waitForPosition(position)
    return findTurn.find(query)
  }
export type CancelTurn = ReturnType<typeof cancelTurn>
