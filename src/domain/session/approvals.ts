import { type Refusal, refusal } from '../refusal.ts'
import type { Sealed } from '../sealed.ts'
import { type Doubt, evolveDoubts, hasNews } from './doubts.ts'
import type { SessionEvent } from './events.ts'
import { isRunBy, type Running, type RunOwner, uncharged } from './running.ts'

type Requested = SessionEvent<'ApprovalRequested'>['data']
type Paused = SessionEvent<'RunPaused'>['data']

/** A call that waits for a decision, or that has one. Those of a run are kept until it ends. */
export type Approval = Pick<
  Requested,
  'approvalId' | 'runId' | 'argumentsDigest' | 'approver' | 'expiresAt'
> & {
  status: 'pending' | 'approved' | 'denied' | 'expired'
  /** A process that runs the run has been told. */
  told: boolean
}

/** What a paused run has come to so far. */
export type PausedRun = Paused

type OpenDecisions = {
  approvals: readonly Approval[]
  doubts: readonly Doubt[]
  paused: PausedRun | null
}

/** No run of the session waits for anybody. */
export const noApprovals: OpenDecisions = { approvals: [], doubts: [], paused: null }

const decided = (
  state: OpenDecisions,
  approvalId: string,
  status: Approval['status'],
): OpenDecisions => ({
  ...state,
  approvals: state.approvals.map((approval) =>
    approval.approvalId === approvalId ? { ...approval, status } : approval,
  ),
})

/** How the events of approvals change what waits. */
export const evolveApprovals = {
  requested: (
    state: OpenDecisions,
    { approvalId, runId, argumentsDigest, approver, expiresAt }: Requested,
  ): OpenDecisions => ({
    ...state,
    approvals: [
      ...state.approvals,
      { approvalId, runId, argumentsDigest, approver, expiresAt, status: 'pending', told: false },
    ],
  }),
  decided: (
    state: OpenDecisions,
    { approvalId, decision }: SessionEvent<'ApprovalDecided'>['data'],
  ): OpenDecisions => decided(state, approvalId, decision === 'approve' ? 'approved' : 'denied'),
  expired: (state: OpenDecisions, { approvalId }: { approvalId: string }): OpenDecisions =>
    decided(state, approvalId, 'expired'),
  paused: (state: OpenDecisions, paused: Paused): OpenDecisions => ({
    ...state,
    doubts: evolveDoubts.paused(state.doubts, paused.inDoubt),
    paused,
  }),
  outcomeTold: (
    state: OpenDecisions,
    data: SessionEvent<'ToolOutcomeTold'>['data'],
  ): OpenDecisions => ({
    ...state,
    doubts: evolveDoubts.outcomeTold(state.doubts, data),
  }),
  /** The process that resumes a run is told all that was decided until then. */
  resumed: (state: OpenDecisions): OpenDecisions => ({
    paused: null,
    doubts: evolveDoubts.resumed(state.doubts),
    approvals: state.approvals.map((approval) =>
      approval.status === 'pending' ? approval : { ...approval, told: true },
    ),
  }),
}

/** Whether a paused run can resume: it has a decision or an outcome that is new to it. */
export const canGoOn = ({ approvals, doubts, paused }: OpenDecisions): boolean =>
  paused !== null &&
  (approvals.some((approval) => approval.status !== 'pending' && !approval.told) || hasNews(doubts))

/** The pause of a run: its requests for approval, and its state so far. */
export type Pause = {
  requests: readonly Omit<Requested, 'userId' | 'keyId'>[]
  paused: Paused
}

type Owned = OpenDecisions & { ownerId: string; keyId: string | null; running: Running | null }

/**
 * A run stops until somebody decides; nothing once it has ended, or is another process's. Calls
 * that were asked for before are not asked for again.
 */
export const decidePause =
  ({ requests, paused }: Pause, owner: RunOwner) =>
  (state: Owned): SessionEvent<'ApprovalRequested' | 'RunPaused'>[] => {
    const { running, ownerId: userId, keyId, approvals } = state
    if (running?.runId !== paused.runId || state.paused || !isRunBy(running, owner)) return []
    const known = new Set(approvals.map(({ approvalId }) => approvalId))
    const fresh = requests.filter(({ approvalId }) => !known.has(approvalId))
    return [
      ...fresh.map((data) => ({
        type: 'ApprovalRequested' as const,
        data: { ...data, userId, keyId },
      })),
      { type: 'RunPaused', data: paused },
    ]
  }

export type Decision = {
  approvalId: string
  decision: 'approve' | 'deny'
  /** Of the arguments that were looked at. */
  argumentsDigest: string
  /** The user who decides; null for the platform. */
  by: string | null
  reason: Sealed | undefined
  /** Now. */
  at: string
}

const alreadyDecided = ({ status }: Pick<Approval, 'status'>): Refusal =>
  refusal('approval_decided', {
    message:
      status === 'expired'
        ? 'The call was denied, as nobody decided in time'
        : `The call was ${status} before`,
  })

/**
 * A call is approved or denied once, in time, and with the arguments that it has.
 * @throws approval_decided, arguments_changed
 */
export const decideApproval =
  ({ approvalId, decision, argumentsDigest, by, reason, at }: Decision) =>
  ({ approvals }: OpenDecisions): SessionEvent<'ApprovalDecided'>[] => {
    const approval = approvals.find((approval) => approval.approvalId === approvalId)
    if (!approval) throw refusal('approval_decided', { message: 'The run of the call has ended' })
    if (approval.status !== 'pending') throw alreadyDecided(approval)
    if (approval.expiresAt <= at) throw alreadyDecided({ status: 'expired' })
    if (approval.argumentsDigest !== argumentsDigest) throw refusal('arguments_changed')
    const { runId } = approval
    return [
      {
        type: 'ApprovalDecided',
        data: {
          approvalId,
          runId,
          decision,
          argumentsDigest,
          by,
          ...(reason ? { reason } : {}),
        },
      },
    ]
  }

/** What nobody decided in time is denied. */
export const decideExpiry =
  (approvalId: string, at: string) =>
  ({ approvals }: OpenDecisions): SessionEvent<'ApprovalExpired'>[] => {
    const approval = approvals.find((approval) => approval.approvalId === approvalId)
    if (approval?.status !== 'pending' || approval.expiresAt > at) return []
    return [{ type: 'ApprovalExpired', data: { approvalId, runId: approval.runId } }]
  }

type Cause = SessionEvent<'ApprovalWithdrawn'>['data']['cause']

/** The end of a run takes back what it asked for. */
export const withdrawn = (
  { approvals }: OpenDecisions,
  runId: string,
  cause: Cause,
): SessionEvent<'ApprovalWithdrawn'>[] =>
  approvals.flatMap((approval) =>
    approval.runId === runId && approval.status === 'pending'
      ? [{ type: 'ApprovalWithdrawn', data: { approvalId: approval.approvalId, runId, cause } }]
      : [],
  )

/** Cancels a run that no process executes: a queued or paused one. No event if there is none. */
export const endWaiting = (
  state: OpenDecisions & { running: Running | null },
  cause: Cause,
): SessionEvent[] =>
  state.running?.queued
    ? [{ type: 'RunCancelled', data: { runId: state.running.runId, ...uncharged } }]
    : endPaused(state, cause)

/**
 * A paused run ends as one that is cancelled: its text is kept, in a message that has the run's
 * id, and charged. Nothing where no run is paused.
 */
export const endPaused = (state: OpenDecisions, cause: Cause): SessionEvent[] => {
  if (!state.paused) return []
  const { runId, agent, text, state: _, inDoubt: __, ...cost } = state.paused
  const message: SessionEvent[] = text
    ? [
        {
          type: 'AssistantMessageRecorded',
          data: { messageId: runId, runId, agent, content: text },
        },
      ]
    : []
  return [
    ...withdrawn(state, runId, cause),
    ...message,
    { type: 'RunCancelled', data: { runId, ...cost } },
  ]
}
