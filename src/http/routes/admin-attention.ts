import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { approvalView } from '../../../projections/approvals.ts'
import { uploadView } from '../../../projections/uploads.ts'
import type { GetAttention } from '../../../queries/get-attention.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { integer, pathId } from '../wire/fields.ts'
import { unreadableEvent } from '../wire/unreadable-events.ts'

type Uses = { getAttention: GetAttention; getOrganization: GetOrganization }

const some = <Item extends z.ZodType>(item: Item) =>
  z.object({ total: z.int(), items: z.array(item).describe('The newest') })

const approval = approvalView.pick({
  approval_id: true,
  session_id: true,
  run_id: true,
  user_id: true,
  tool_name: true,
  agent_name: true,
  approver: true,
  requested_at: true,
  expires_at: true,
})

const upload = uploadView.pick({
  upload_id: true,
  datastore_id: true,
  filename: true,
  error_message: true,
  uploaded_at: true,
})

const run = z.object({
  run_id: z.string(),
  session_id: z.string(),
  user_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  agent_name: z.string(),
  started_at: z.iso.datetime(),
})

const attention = z.object({
  pending_approvals: some(approval).extend({
    for_admins: z.int().describe('Those that an owner or admin decides'),
  }),
  runs_in_doubt: some(run).describe('Runs that wait for the outcome of a call'),
  failed_uploads: some(upload),
  unreadable_events: some(unreadableEvent),
})

/** What somebody has to look at (docs/contract/admin-api.md#attention). */
export const adminAttentionRoutes =
  ({ getAttention, getOrganization }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/organizations/:organization_id/attention',
      {
        config: { scopes: ['admin:read'], managers: true },
        schema: {
          tags: ['admin: organizations'],
          summary: 'Count pending approvals, calls in doubt, failed uploads and unreadable events',
          params: z.object({ organization_id: pathId }),
          querystring: z.strictObject({ limit: integer(1, 50).default(10) }),
          response: {
            200: attention,
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        return getAttention(organizationId, request.query.limit)
      },
    )
  }
