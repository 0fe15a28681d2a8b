import type { Sealed } from '../src/domain/sealed.ts'
import { type ApprovalViewer, approvalAnswer, type FindApproval } from './find-approval.ts'

type Uses = {
  findApproval: FindApproval
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** One approval as the list shows it. @throws approval_not_found */
export const getApproval =
  ({ findApproval, open }: Uses) =>
  async (id: string, viewer: ApprovalViewer) => {
    const { approval } = await findApproval(id, viewer)
    return (await approvalAnswer(approval, open)).value
  }
export type GetApproval = ReturnType<typeof getApproval>
