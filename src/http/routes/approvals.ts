import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { DecideOnApprovalCommand } from '../../../commands/decide-on-approval.ts'
import { approvalStatuses, approvalView } from '../../../projections/approvals.ts'
import type { FindApproval } from '../../../queries/find-approval.ts'
import type { GetApproval } from '../../../queries/get-approval.ts'
import type { ListApprovals } from '../../../queries/list-approvals.ts'
import { refusal } from '../../domain/refusal.ts'
import { isManager } from '../checks/authenticate.ts'
import { refusals } from '../errors/responses.ts'
import { pageQuery, pagingFields, pathId } from '../wire/fields.ts'
import { bodyOnBehalfOf, queryOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  listApprovals: ListApprovals
  getApproval: GetApproval
  findApproval: FindApproval
  decideOnApproval: DecideOnApprovalCommand
  /** Resumes a run whose decisions are in the views; resolves once it runs again. */
  resumePaused(runId: string): Promise<void>
}

const approval = approvalView.omit({ organization_id: true, key_id: true, at: true }).extend({
  user_id: approvalView.shape.user_id.describe('Whose session it is'),
  arguments: z.unknown().describe('As the tool is given them'),
  reason: z.string().nullable(),
})

const list = pageQuery.extend({
  status: z.enum(approvalStatuses).optional(),
  approver: z
    .literal('admin')
    .optional()
    .describe('Those that admins decide, of all sessions of the organization'),
  ...queryOnBehalfOf.shape,
})

const decision = z.object({
  decision: z.enum(['approve', 'deny']),
  arguments_digest: z.string().min(1).max(128).describe('Of the arguments that were looked at'),
  reason: z.string().max(2_000).nullish().describe('Told to the model where the call is denied'),
  ...bodyOnBehalfOf.shape,
})

const delegated = ['user_not_found', 'delegation_not_allowed'] as const

/** Calls of tools that wait for a decision (docs/contract/approvals.md). */
export const approvalRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { listApprovals, getApproval, findApproval, decideOnApproval, resumePaused } = uses
    const tags = ['approvals']

    /** Whoever acts for another user acts with that user's rights alone. */
    const callerOf = ({ access, delegated: { call, viewer } }: FastifyRequest) => ({
      organizationId: access.organizationId,
      viewer,
      manages: call.onBehalfOf === null && isManager(access),
    })

    http.get(
      '/approvals',
      {
        config: { scopes: ['approvals:read'], delegates: 'query' },
        schema: {
          tags,
          summary: 'List calls that wait, or waited, for a decision, the newest first',
          querystring: list,
          response: {
            200: z.object({ approvals: z.array(approval), ...pagingFields }),
            ...refusals('detail', 'role_required', 'invalid_filter', ...delegated),
          },
        },
      },
      async (request) => {
        const { page, page_size, status, approver } = request.query
        const caller = callerOf(request)
        if (approver && !caller.manages) throw refusal('role_required')
        return listApprovals({
          ...caller,
          ofAdmins: approver !== undefined,
          status,
          page: { page, pageSize: page_size },
        })
      },
    )

    http.get(
      '/approvals/:approval_id',
      {
        config: { scopes: ['approvals:read'], delegates: 'query' },
        schema: {
          tags,
          summary: 'Get a call that waits, or waited, for a decision',
          params: z.object({ approval_id: pathId }),
          querystring: queryOnBehalfOf,
          response: {
            200: approval,
            ...refusals('detail', 'approval_not_found', ...delegated),
          },
        },
      },
      async (request) => getApproval(request.params.approval_id, callerOf(request)),
    )

    http.post(
      '/approvals/:approval_id',
      {
        config: { scopes: ['approvals:decide'], delegates: 'body' },
        schema: {
          tags,
          summary: 'Approve or deny a call; its turn goes on',
          params: z.object({ approval_id: pathId }),
          body: decision,
          response: {
            200: approval
              .pick({ approval_id: true, session_id: true, run_id: true, decided_by: true })
              .extend({ status: z.enum(['approved', 'denied']) }),
            ...refusals(
              'detail',
              'approval_not_found',
              'approval_decided',
              'arguments_changed',
              'role_required',
              'idempotency_key_reused',
              ...delegated,
            ),
          },
        },
      },
      async (request) => {
        const { decision, arguments_digest, reason } = request.body
        const caller = callerOf(request)
        const { approval, mayDecide } = await findApproval(request.params.approval_id, caller)
        if (!mayDecide) throw refusal('role_required')
        const { approval_id, session_id, run_id } = approval
        const decided_by = caller.viewer.userId
        const { goesOn } = await decideOnApproval(
          {
            sessionId: session_id,
            approvalId: approval_id,
            decision,
            argumentsDigest: arguments_digest.toLowerCase(),
            by: decided_by,
            reason: reason ?? undefined,
          },
          request.delegated.call,
        )
        if (goesOn) await resumePaused(run_id)
        const status = decision === 'approve' ? ('approved' as const) : ('denied' as const)
        return { approval_id, session_id, run_id, status, decided_by }
      },
    )
  }
