import { answerOf, api } from './client.ts'

type Request = { approval_id: string; arguments_digest: string }

/** Approves or denies a call of a tool. @throws ApiError */
export const decide = (
  { approval_id, arguments_digest }: Request,
  decision: 'approve' | 'deny',
  reason?: string,
) =>
  answerOf(
    api.POST('/api/external/approvals/{approval_id}', {
      params: { path: { approval_id } },
      body: { decision, arguments_digest, ...(reason && { reason }) },
    }),
  )
