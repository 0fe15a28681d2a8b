import type { ExpireApprovalCommand } from '../../commands/expire-approval.ts'
import type { ApprovalView } from '../../projections/approvals.ts'
import type { RunView } from '../../projections/runs.ts'
import { findAll } from '../../queries/find-all.ts'
import { latest, type Position } from '../domain/event.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { START } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { View, WaitForPosition } from '../ports/views.ts'
import type { RunNames } from '../turns/resume/close-run.ts'
import type { ResumeOrClose } from '../turns/resume/resume-or-close.ts'
import { skipUnreadable } from './skip-unreadable.ts'

type Uses = {
  approvals: View<ApprovalView>
  runs: View<RunView>
  expireApproval: ExpireApprovalCommand
  /** Resumes a run, or closes it if it cannot be resumed. */
  resumeOrClose: ResumeOrClose
  waitForPosition: WaitForPosition
  namesOf: RunNames
  clock: Clock
  log: Log
}

/** Calls denied in one pass. */
const atOnce = 200

const pending = { index: 'by_status', equals: ['pending'] }

/** Denies expired calls, and resumes runs after a decision. */
export const resumeDecidedRuns = (uses: Uses) => {
  const { approvals, runs, expireApproval, resumeOrClose, waitForPosition, clock, log } = uses
  /** Calls that could not be denied. */
  let left: ReadonlySet<string> = new Set()

  const earliest = async (): Promise<readonly ApprovalView[]> =>
    (await approvals.find({ ...pending, limit: atOnce })).items

  const expired = async (): Promise<Position> => {
    let position: Position = START
    const now = clock.now()
    for (const {
      approval_id: approvalId,
      organization_id,
      session_id: sessionId,
      ...approval
    } of await earliest()) {
      if (approval.expires_at > now.toISOString()) break
      const call = systemCall(approvalId, now, organization_id)
      await skipUnreadable(log, { approval_id: approvalId }, async () => {
        const expired = await expireApproval({ sessionId, approvalId }, call)
        position = latest(position, expired.position)
      })
    }
    return position
  }

  /** Also resumes runs whose process died between the decision and the resume. */
  const pass = async (): Promise<void> => {
    await waitForPosition(await expired())
    for (const run of await findAll(runs, { index: 'decided', equals: [true] })) {
      if (run.status !== 'awaiting_approval' && run.status !== 'in_doubt') continue
      await resumeOrClose(run).catch(async (err: unknown) =>
        log.error({ err, ...(await uses.namesOf(run)) }, 'a run could not go on'),
      )
    }
  }

  return {
    pass,
    /**
     * Runs a pass once a call has expired. Resolves with the next expiry. A call that cannot be
     * denied is left to `pass`.
     */
    async expire(): Promise<string | undefined> {
      const now = clock.now().toISOString()
      const isNext = ({ approval_id }: ApprovalView): boolean => !left.has(approval_id)
      const before = await earliest()
      const next = before.find(isNext)
      if (!next || next.expires_at > now) return next?.expires_at
      await pass()
      const due = before.filter(({ expires_at }) => expires_at <= now)
      const tried = new Set(due.map(({ approval_id }) => approval_id))
      const after = await earliest()
      left = new Set(after.map(({ approval_id }) => approval_id).filter((id) => tried.has(id)))
      return after.find(isNext)?.expires_at
    },
  }
}
