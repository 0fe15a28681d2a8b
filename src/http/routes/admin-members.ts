import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AddMemberCommand } from '../../../commands/add-member.ts'
import type { ChangeMemberCommand } from '../../../commands/change-member.ts'
import type { RemoveMemberCommand } from '../../../commands/remove-member.ts'
import { memberView } from '../../../projections/members.ts'
import type { GetMember } from '../../../queries/get-member.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ListBackedKeys } from '../../../queries/list-backed-keys.ts'
import type { ListMembers } from '../../../queries/list-members.ts'
import { inOrganization, standingOf } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { email, name, orAbsent, pageQuery, pagingFields, pathId, role } from '../wire/fields.ts'

type Uses = {
  addMember: AddMemberCommand
  changeMember: ChangeMemberCommand
  removeMember: RemoveMemberCommand
  getOrganization: GetOrganization
  getMember: GetMember
  listMembers: ListMembers
  listBackedKeys: ListBackedKeys
}

const params = z.object({ organization_id: pathId })
const memberParams = params.extend({ user_id: pathId })

const member = z.object({
  ...memberView.pick({ user_id: true }).shape,
  email: z.string().nullable(),
  name: z.string().nullable(),
  ...memberView.pick({ role: true, status: true, created_at: true }).shape,
})

const reads = { scopes: ['admin:read'], managers: true } as const
const writes = { scopes: ['admin:write'], managers: true } as const

/** The members of an organization and their roles (docs/contract/admin-api.md#members). */
export const adminMemberRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { addMember, changeMember, removeMember } = uses
    const { getOrganization, getMember, listMembers, listBackedKeys } = uses
    const tags = ['admin: members']

    http.get(
      '/organizations/:organization_id/members',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List members, including pending ones, in the order they were added',
          params,
          querystring: pageQuery,
          response: {
            200: z.object({ members: z.array(member), ...pagingFields }),
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        const { page, page_size } = request.query
        return listMembers(organizationId, { page, pageSize: page_size })
      },
    )

    http.post(
      '/organizations/:organization_id/members',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Invite a person, who is pending until she accepts',
          params,
          body: z.object({
            email,
            name: orAbsent(name),
            role: orAbsent(role.exclude(['OWNER'])),
          }),
          response: {
            201: member,
            ...refusals(
              'admin',
              'role_required',
              'organization_not_found',
              'member_exists',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const call = inOrganization(request, request.params.organization_id)
        const { role = 'MEMBER', ...person } = request.body
        const { userId } = await addMember({ ...person, role }, call)
        return reply.code(201).send(await getMember(call.organizationId, userId))
      },
    )

    http.patch(
      '/organizations/:organization_id/members/:user_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Change a member’s role; only owners can make or change owners',
          params: memberParams,
          body: z.object({ role }),
          response: {
            200: member,
            ...refusals(
              'admin',
              'role_required',
              'owner_required',
              'member_not_found',
              'last_owner',
              'member_pending',
            ),
          },
        },
      },
      async (request) => {
        const { organization_id, user_id } = request.params
        const call = inOrganization(request, organization_id)
        const change = { userId: user_id, role: request.body.role, by: standingOf(request) }
        await changeMember(change, call)
        return getMember(organization_id, user_id)
      },
    )

    http.delete(
      '/organizations/:organization_id/members/:user_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Remove a member; keys backed by the member stop working',
          params: memberParams,
          response: {
            204: z.undefined(),
            ...refusals(
              'admin',
              'role_required',
              'owner_required',
              'member_not_found',
              'last_owner',
            ),
          },
        },
      },
      async (request, reply) => {
        const { organization_id, user_id } = request.params
        const call = inOrganization(request, organization_id)
        const keyIds = await listBackedKeys(call.organizationId, user_id)
        const removal = { userId: user_id, by: standingOf(request), keyIds }
        await removeMember(removal, call)
        return reply.code(204).send()
      },
    )
  }
