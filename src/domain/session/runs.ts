import { canGoOn, withdrawn } from './approvals.ts'
import type { RunEndType, SessionEvent } from './events.ts'
import { attemptsInVain, isRunBy, mostAttempts, type RunOwner } from './running.ts'
import type { Session } from './session.ts'

/** Steps of a run as they happen; nothing once the run has ended, or is another process's. */
export const decideRecord =
  (runId: string, steps: readonly SessionEvent[], owner?: RunOwner) =>
  ({ running }: Session): readonly SessionEvent[] =>
    running?.runId === runId && isRunBy(running, owner) ? steps : []

export type RunEnd = SessionEvent<RunEndType>

/**
 * A run ends after its last steps, and takes back what it asked for and nobody has decided; nothing
 * once it has ended, or is another process's.
 */
export const decideEnd =
  (end: RunEnd, steps: readonly SessionEvent[], owner?: RunOwner) =>
  (state: Session): readonly SessionEvent[] => {
    const { runId } = end.data
    if (state.running?.runId !== runId || !isRunBy(state.running, owner)) return []
    const cause = end.type === 'RunCancelled' ? 'cancelled' : 'ended'
    return [...steps, ...withdrawn(state, runId, cause), end]
  }

const progress: ReadonlySet<SessionEvent['type']> = new Set([
  'ModelAnswered',
  'ToolStarted',
  'ToolCompleted',
])

/** Whether an event is a step of a run, after which its attempts count anew. */
export const isProgress = ({ type }: SessionEvent): boolean => progress.has(type)

type TakeoverRequest = { runId: string; from: RunOwner }

/** Attempts of an orphaned run since its last step; 0 once it ended, pauses or has an owner. */
export const attemptsOf = (
  { runId, from }: TakeoverRequest,
  { running, paused }: Session,
): number =>
  running?.runId === runId && isRunBy(running, from) && !paused ? attemptsInVain(running) : 0

/**
 * Whether a run has used all its attempts. An attempt beside other suspects does not count as the
 * last: one of them may have ended the process.
 */
export const isExhausted = (request: TakeoverRequest, state: Session): boolean =>
  attemptsOf(request, state) >= mostAttempts && state.running?.besideSuspects === false

/** Whether a run may be what ended its processes: two in a row, without a step in between. */
export const isSuspect = (request: TakeoverRequest, state: Session): boolean =>
  attemptsOf(request, state) >= mostAttempts - 1 && !isExhausted(request, state)

/**
 * A process takes over a run that `from` had; nothing when the run has ended, when it is no longer
 * that process's, and after the last attempt. A paused run resumes once it has news; a queued one
 * begins. `besideSuspects`: other suspects are in flight in that process.
 */
export const decideResume =
  ({
    node,
    besideSuspects,
    ...request
  }: TakeoverRequest & { node: string; besideSuspects?: boolean | undefined }) =>
  (state: Session): SessionEvent<'RunResumed' | 'RunDequeued'>[] => {
    const { runId, from } = request
    const { running } = state
    if (running?.runId !== runId || !isRunBy(running, from)) return []
    if (running.queued) return [{ type: 'RunDequeued', data: { runId, node } }]
    const may = state.paused ? canGoOn(state) : !isExhausted(request, state)
    const attempt = running.attempt + 1
    const data = { runId, node, attempt, ...(besideSuspects ? { besideSuspects } : {}) }
    return may ? [{ type: 'RunResumed', data }] : []
  }
