import type { ApprovalView } from '../projections/approvals.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { View } from '../src/ports/views.ts'
import { firstPart } from '../src/support/in-parts.ts'
import { type ApprovalViewer, shownApproval } from './find-approval.ts'
import { pageBytes } from './opened.ts'
import { fittedPage, type Page, paging, skipTo } from './page.ts'

type Uses = {
  approvals: View<ApprovalView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

type Ask = Omit<ApprovalViewer, 'manages'> & {
  /** Those that admins of the organization decide, whose sessions they may be. */
  ofAdmins: boolean
  status: ApprovalView['status'] | undefined
  page: Page
}

/** The approvals of a user's sessions, or those for admins, the newest first. */
export const listApprovals =
  ({ approvals, open }: Uses) =>
  async ({ organizationId, viewer, ofAdmins, status, page }: Ask) => {
    const { userId, onlyKeyId } = viewer
    const whose = ofAdmins ? 'approver' : onlyKeyId ? 'key' : 'user'
    const key = ofAdmins ? ['admin'] : [userId, ...(onlyKeyId ? [onlyKeyId] : [])]
    const { items, total } = await approvals.find({
      index: `by_${whose}${status ? '_status' : ''}`,
      equals: [organizationId, ...key, ...(status ? [status] : [])],
      descending: true,
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const fitting = await firstPart(items, (item) => shownApproval(item, open), pageBytes)
    const fitted = fittedPage(page, items.length, fitting.length)
    return { approvals: fitting.slice(0, fitted.pageSize), ...paging(total, fitted) }
  }
export type ListApprovals = ReturnType<typeof listApprovals>
