import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

export type Approval = Answer<'/api/external/approvals'>['approvals'][number]
export type ApprovalStatus = Approval['status']
export type RunInDoubt =
  Answer<'/api/admin/organizations/{organization_id}/attention'>['runs_in_doubt']['items'][number]

type ListOptions = {
  status?: ApprovalStatus | undefined
  /** Those that admins decide, instead of those of one's own conversations. */
  ofAdmins: boolean
  page: number
  pageSize?: number
}

const pageOfApprovals = ({ status, ofAdmins, page, pageSize = 20 }: ListOptions) =>
  answerOf(
    api.GET('/api/external/approvals', {
      params: {
        query: {
          page,
          page_size: pageSize,
          ...(status && { status }),
          ...(ofAdmins && { approver: 'admin' as const }),
        },
      },
    }),
  )

const refetchMs = 5_000

/** One page of approvals, the newest first, again every five seconds. */
export const approvalsQuery = (options: ListOptions) =>
  queryOptions({
    queryKey: ['approvals', options],
    queryFn: () => pageOfApprovals(options),
    refetchInterval: refetchMs,
    placeholderData: (former) => former,
  })

/** Pages of 100 that are searched for one approval, whose address has only its id. */
const mostPages = 10

const findApproval = async (id: string, ofAdmins: boolean): Promise<Approval | undefined> => {
  for (let page = 1; page <= mostPages; page += 1) {
    const { approvals, has_next } = await pageOfApprovals({ ofAdmins, page, pageSize: 100 })
    const approval = approvals.find(({ approval_id }) => approval_id === id)
    if (approval || !has_next) return approval
  }
  return undefined
}

/** One approval; null where there is none, or it is older than the newest thousand. */
export const approvalQuery = (id: string, isManager: boolean) =>
  queryOptions({
    queryKey: ['approval', id, isManager],
    queryFn: async () =>
      (isManager ? await findApproval(id, true) : undefined) ??
      (await findApproval(id, false)) ??
      null,
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? refetchMs : false),
  })

const messagesAtOnce = 50

/** The newest messages of a conversation. Without `onBehalfOf`, of the caller's own. */
export const conversationQuery = (sessionId: string, onBehalfOf: string | undefined) =>
  queryOptions({
    queryKey: ['conversation', sessionId, onBehalfOf],
    queryFn: async () => {
      const pageOf = (page: number) =>
        answerOf(
          api.GET('/api/external/sessions/{session_id}/messages', {
            params: {
              path: { session_id: sessionId },
              query: {
                page,
                page_size: messagesAtOnce,
                ...(onBehalfOf && { on_behalf_of: onBehalfOf }),
              },
            },
          }),
        )
      const first = await pageOf(1)
      return first.has_next ? pageOf(Math.ceil(first.total / messagesAtOnce)) : first
    },
  })

/** Runs that wait for the outcome of a call, the newest 50. */
export const runsInDoubtQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['runs-in-doubt', organizationId],
    queryFn: async () => {
      const { runs_in_doubt } = await answerOf(
        api.GET('/api/admin/organizations/{organization_id}/attention', {
          params: { path: { organization_id: organizationId }, query: { limit: 50 } },
        }),
      )
      return runs_in_doubt
    },
    refetchInterval: refetchMs,
  })

/** The calls in doubt of a session. */
export const callsInDoubtQuery = (sessionId: string, onBehalfOf: string | undefined) =>
  queryOptions({
    queryKey: ['calls-in-doubt', sessionId, onBehalfOf],
    queryFn: async () => {
      const { in_doubt = [] } = await answerOf(
        api.GET('/api/external/sessions/{session_id}/status', {
          params: {
            path: { session_id: sessionId },
            query: onBehalfOf ? { on_behalf_of: onBehalfOf } : {},
          },
        }),
      )
      return in_doubt
    },
  })
