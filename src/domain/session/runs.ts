import { canGoOn, withdrawn } from './approvals.ts'
import type { SessionEvent } from './events.ts'
import { isRunBy, type RunOwner } from './running.ts'
import type { Session } from './session.ts'

/** Steps of a run as they happen; nothing once the run has ended, or is another process's. */
export const decideRecord =
  (runId: string, steps: readonly SessionEvent[], owner?: RunOwner) =>
  ({ running }: Session): readonly SessionEvent[] =>
    running?.runId === runId && isRunBy(running, owner) ? steps : []

export type RunEnd = SessionEvent<'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'>

/**
 * A run ends after its last steps, and takes back what it asked for and nobody has decided; nothing once it has ended,
 * or is another process's.
 */
export const decideEnd =
  (end: RunEnd, steps: readonly SessionEvent[], owner?: RunOwner) =>
  (state: Session): readonly SessionEvent[] => {
    const { runId } = end.data
    if (state.running?.runId !== runId || !isRunBy(state.running, owner)) return []
    const cause = end.type === 'RunCancelled' ? 'cancelled' : 'ended'
    return [...steps, ...withdrawn(state, runId, cause), end]
  }

/** How often a run is tried before it is closed as interrupted; anew after it waited or was handed over. */
export const mostAttempts = 3

/**
 * A process takes over a run that `from` had; nothing when the run has ended, when it is no longer
 * that process's, and after the last attempt. One that waits for somebody goes on when there is something to
 * go on with; a queued one begins.
 */
export const decideResume =
  ({ runId, from, node }: { runId: string; from: RunOwner; node: string }) =>
  (state: Session): SessionEvent<'RunResumed' | 'RunDequeued'>[] => {
    const { running } = state
    if (running?.runId !== runId || !isRunBy(running, from)) return []
    if (running.queued) return [{ type: 'RunDequeued', data: { runId, node } }]
    const { attempt, base } = running
    const may = state.paused ? canGoOn(state) : attempt - base < mostAttempts
    return may ? [{ type: 'RunResumed', data: { runId, node, attempt: attempt + 1 } }] : []
  }

/** Whether a run that `from` had was tried as often as it is. */
export const isExhausted = (
  { runId, from }: { runId: string; from: RunOwner },
  { running, paused }: Session,
): boolean =>
  running?.runId === runId &&
  isRunBy(running, from) &&
  !paused &&
  running.attempt - running.base >= mostAttempts
