import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/problem.ts'

export type Approval = Answer<'/api/external/approvals'>['approvals'][number]
export type ApprovalStatus = Approval['status']
export type RunInDoubt =
  Answer<'/api/admin/organizations/{organization_id}/attention'>['runs_in_doubt']['items'][number]

type ListOptions = {
  status?: ApprovalStatus | undefined
  /** Those that admins decide, instead of those of one's own conversations. */
  ofAdmins: boolean
  page: number
}

const pageOfApprovals = ({ status, ofAdmins, page }: ListOptions) =>
  answerOf(
    api.GET('/api/external/approvals', {
      params: {
        query: {
          page,
          page_size: 20,
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

const getApproval = async (id: string): Promise<Approval | null> => {
  try {
    return await answerOf(
      api.GET('/api/external/approvals/{approval_id}', { params: { path: { approval_id: id } } }),
    )
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** One approval; null where there is none that the caller sees. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    queryFn: () => getApproval(id),
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
