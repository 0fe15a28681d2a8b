import type { ApprovalView } from '../projections/approvals.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import { type ApprovalViewer, approvalAnswer } from './find-approval.ts'
import type { Page } from './page.ts'
import { readPage } from './read-page.ts'

type Uses = {
  approvals: View<ApprovalView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

type Query = Omit<ApprovalViewer, 'manages'> & {
  /** Those that admins of the organization decide, whose sessions they may be. */
  ofAdmins: boolean
  status: ApprovalView['status'] | undefined
  page: Page
}

/** The approvals of a user's sessions, or those for admins, the newest first. */
export const listApprovals =
  ({ approvals, open }: Uses) =>
  async ({ organizationId, viewer, ofAdmins, status, page }: Query) => {
    const { userId, onlyKeyId } = viewer
    const whose = ofAdmins ? 'approver' : onlyKeyId ? 'key' : 'user'
    const key = ofAdmins ? ['admin'] : [userId, ...(onlyKeyId ? [onlyKeyId] : [])]
    const of = {
      index: `by_${whose}${status ? '_status' : ''}`,
      equals: [organizationId, ...key, ...(status ? [status] : [])],
      descending: true,
    }
    const show = (item: ApprovalView) => approvalAnswer(item, open)
    const { items, paging } = await readPage(approvals, of, page, show)
    return { approvals: items, ...paging }
  }
export type ListApprovals = ReturnType<typeof listApprovals>
