import type { ApprovalView } from '../projections/approvals.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'

type Uses = {
  approvals: View<ApprovalView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** A call that waits, with its arguments as text. */
export type StoredPending = Omit<ApprovalView, 'arguments'> & { arguments: string }

/** The calls of a run that wait for a decision, in the order in which they were asked for. */
export const findPendingApprovals =
  ({ approvals, open }: Uses) =>
  async (runId: string): Promise<StoredPending[]> => {
    const found = await findAll(approvals, { index: 'by_run', equals: [runId] })
    const pending = found.filter(({ status }) => status === 'pending')
    return Promise.all(
      pending.map(async (one) => ({ ...one, arguments: (await open(one.arguments)) ?? '{}' })),
    )
  }
export type FindPendingApprovals = ReturnType<typeof findPendingApprovals>
