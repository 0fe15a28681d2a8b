import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AcceptInvitationCommand } from '../../../commands/accept-invitation.ts'
import type { DeclineInvitationCommand } from '../../../commands/decline-invitation.ts'
import type { EnterOrganizationCommand } from '../../../commands/enter-organization.ts'
import { memberView } from '../../../projections/members.ts'
import type { ListMemberships } from '../../../queries/list-memberships.ts'
import { userOf } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { id, orAbsent, pageQuery, pagingFields, pathId } from '../wire/fields.ts'

type Uses = {
  acceptInvitation: AcceptInvitationCommand
  declineInvitation: DeclineInvitationCommand
  enterOrganization: EnterOrganizationCommand
  listMemberships: ListMemberships
}

const params = z.object({ organization_id: pathId })

const membership = z.object({
  organization_id: id,
  name: z.string().nullable(),
  ...memberView.pick({ role: true, status: true }).shape,
  current: z.boolean(),
  allow_backing: z.boolean().describe('Others may make keys that the user backs'),
  invited_at: memberView.shape.created_at,
})

const acceptance = z
  .object({ allow_backing: orAbsent(z.boolean()), current: orAbsent(z.boolean()) })
  .nullish()

const entered = z.object({ current_organization_id: id })
const accepted = z.object({ organization_id: id, status: memberView.shape.status })

const reads = { scopes: ['admin:read'], own: true, userKey: true } as const
/** Why an invitation is neither accepted nor declined. */
const ofAnswers = [
  'user_key_required',
  'user_not_found',
  'invitation_not_found',
  'idempotency_key_reused',
] as const
const writes = { scopes: ['admin:write'], own: true, userKey: true } as const

/** A user's own memberships and invitations (docs/contract/admin-api.md#memberships). */
export const meMembershipRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { acceptInvitation, declineInvitation, enterOrganization } = uses
    const tags = ['me']

    http.get(
      '/memberships',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List the organizations that the calling user is a member of or invited to',
          querystring: pageQuery,
          response: {
            200: z.object({ memberships: z.array(membership), ...pagingFields }),
            ...refusals('admin', 'user_key_required', 'user_not_found'),
          },
        },
      },
      async (request) => {
        const { page, page_size } = request.query
        return uses.listMemberships(userOf(request), { page, pageSize: page_size })
      },
    )

    http.post(
      '/memberships/:organization_id/accept',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Accept an invitation',
          params,
          body: acceptance,
          response: {
            200: accepted,
            ...refusals('admin', ...ofAnswers),
          },
        },
      },
      async (request) => {
        const { organization_id } = request.params
        const { allow_backing: allowBacking = false, current = false } = request.body ?? {}
        const membership = { organizationId: organization_id, userId: userOf(request) }
        await acceptInvitation({ ...membership, allowBacking, current }, request.call)
        return { organization_id, status: 'active' as const }
      },
    )

    http.post(
      '/memberships/:organization_id/decline',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Decline an invitation',
          params,
          response: {
            204: z.undefined(),
            ...refusals('admin', ...ofAnswers),
          },
        },
      },
      async (request, reply) => {
        const organizationId = request.params.organization_id
        const membership = { organizationId, userId: userOf(request) }
        await declineInvitation(membership, request.call)
        return reply.code(204).send()
      },
    )

    http.put(
      '/memberships/:organization_id/current',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Make an organization the current one of the calling user',
          params,
          response: {
            200: entered,
            ...refusals('admin', 'user_key_required', 'user_not_found', 'member_not_found'),
          },
        },
      },
      async (request) => {
        const { organization_id } = request.params
        const membership = { organizationId: organization_id, userId: userOf(request) }
        await enterOrganization(membership, request.call)
        return { current_organization_id: organization_id }
      },
    )
  }
