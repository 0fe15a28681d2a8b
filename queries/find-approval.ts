import type { ApprovalView } from '../projections/approvals.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import { isOwn, type Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'

/** The caller: users see approvals of their own sessions; managers, those that admins decide. */
export type ApprovalViewer = { organizationId: string; viewer: Viewer; manages: boolean }

type Open = (text: Sealed) => string | undefined | Promise<string | undefined>

/** What a shown approval weighs beside its arguments. */
const ownBytes = 1_000

const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text?.trim() || '{}')
  } catch {
    return text
  }
}

/** An approval in its answer's shape, with its size. Erased texts are null. */
export const approvalAnswer = async (view: ApprovalView, open: Open) => {
  const { organization_id, key_id, at, arguments: sealed, reason, ...fields } = view
  const text = await open(sealed)
  const value = {
    ...fields,
    arguments: text === undefined ? null : parsed(text),
    reason: reason && ((await open(reason)) ?? null),
  }
  return { value, bytes: ownBytes + (text?.length ?? 0) }
}

/**
 * One approval, and whether it is the asker's to decide. @throws approval_not_found
 */
export const findApproval =
  ({ approvals }: { approvals: View<ApprovalView> }) =>
  async (id: string, { organizationId, viewer, manages }: ApprovalViewer) => {
    const approval = await approvals.get(id)
    if (approval?.organization_id !== organizationId) throw refusal('approval_not_found')
    const { approver, user_id: ownerId, key_id: keyId } = approval
    const own = isOwn(viewer, { ownerId, keyId })
    if (!own && !(manages && approver === 'admin')) throw refusal('approval_not_found')
    return { approval, mayDecide: approver === 'admin' ? manages : own }
  }
export type FindApproval = ReturnType<typeof findApproval>
