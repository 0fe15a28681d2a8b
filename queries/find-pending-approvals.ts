import type { ApprovalView } from '../projections/approvals.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'

type Uses = {
  approvals: View<ApprovalView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** A pending call, with its arguments as text. */
export type StoredPending = Omit<ApprovalView, 'arguments'> & { arguments: string }

/** A run's calls without a decision, in the order of their requests. */
export const findPendingApprovals =
  ({ approvals, open }: Uses) =>
  async (runId: string): Promise<StoredPending[]> => {
    const ofRun = await findAll(approvals, { index: 'by_run', equals: [runId] })
    const pending = ofRun.filter(({ status }) => status === 'pending')
    return Promise.all(
      pending.map(async (approval) => ({
        ...approval,
        arguments: (await open(approval.arguments)) ?? '{}',
      })),
    )
  }
export type FindPendingApprovals = ReturnType<typeof findPendingApprovals>
