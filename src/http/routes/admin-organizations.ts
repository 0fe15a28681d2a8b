import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ColorOrganizationCommand } from '../../../commands/color-organization.ts'
import type { CreateOrganizationCommand } from '../../../commands/create-organization.ts'
import type { RenameOrganizationCommand } from '../../../commands/rename-organization.ts'
import { organizationView } from '../../../projections/organizations.ts'
import type { GetCredits } from '../../../queries/get-credits.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ListOrganizations } from '../../../queries/list-organizations.ts'
import { creditUnit } from '../../domain/amounts.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import {
  credits,
  email,
  id,
  name,
  orAbsent,
  pageQuery,
  pagingFields,
  pathId,
  plan,
} from '../wire/fields.ts'

type Uses = {
  createOrganization: CreateOrganizationCommand
  renameOrganization: RenameOrganizationCommand
  colorOrganization: ColorOrganizationCommand
  getOrganization: GetOrganization
  getCredits: GetCredits
  listOrganizations: ListOrganizations
}

const params = z.object({ organization_id: pathId })

const creation = z.object({
  name,
  owner: z.object({ email, name: orAbsent(name) }),
  plan: plan.optional(),
  credits: orAbsent(credits(0, 1e9)),
})

const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'A color is written #rrggbb')
  .toLowerCase()
  .describe('Of the connect page; null: none')

const created = z.object({
  organization_id: id,
  owner_user_id: id,
  orchestrator_agent_id: id,
})

const ownersCredits = z.object({
  organization_id: id,
  owners: z.array(
    z.object({
      user_id: id,
      plan: z.string().nullable(),
      credit_balance: z.number(),
      effective_balance: z.number(),
    }),
  ),
})

const organizationList = z.object({ organizations: z.array(organizationView), ...pagingFields })

/**
 * Organizations (docs/contract/admin-api.md#an-organization): the platform creates them, their
 * managers maintain them.
 */
export const adminOrganizationRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createOrganization, renameOrganization, colorOrganization } = uses
    const { getOrganization, getCredits, listOrganizations } = uses
    const tags = ['admin: organizations']

    http.post(
      '/organizations',
      {
        config: { platform: true },
        schema: {
          tags,
          summary: 'Create an organization with its owner and its orchestrator',
          body: creation,
          response: {
            201: created,
            ...refusals('admin', 'platform_only', 'idempotency_key_reused'),
          },
        },
      },
      async ({ body, call }, reply) => {
        const micro = body.credits && Math.round(body.credits * creditUnit)
        const organization = await createOrganization({ ...body, credits: micro }, call)
        return reply.code(201).send({
          organization_id: organization.organizationId,
          owner_user_id: organization.ownerUserId,
          orchestrator_agent_id: organization.orchestratorAgentId,
        })
      },
    )

    http.get(
      '/organizations',
      {
        config: { platform: true },
        schema: {
          tags,
          summary: 'List all organizations, the oldest first',
          querystring: pageQuery,
          response: { 200: organizationList, ...refusals('admin', 'platform_only') },
        },
      },
      ({ query }) => listOrganizations({ page: query.page, pageSize: query.page_size }),
    )

    http.get(
      '/organizations/:organization_id',
      {
        config: { scopes: ['admin:read'], managers: true },
        schema: {
          tags,
          summary: 'Get one organization',
          params,
          response: {
            200: organizationView,
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        return getOrganization(organizationId)
      },
    )

    http.get(
      '/organizations/:organization_id/credits',
      {
        config: { scopes: ['admin:read'], managers: true },
        schema: {
          tags,
          summary: 'Get plan and balance of the owners',
          params,
          response: {
            200: ownersCredits,
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        const owners = await getCredits(organizationId)
        return {
          organization_id: organizationId,
          owners: owners.map(({ userId, plan, balance, effective }) => ({
            user_id: userId,
            plan,
            credit_balance: balance / creditUnit,
            effective_balance: effective / creditUnit,
          })),
        }
      },
    )

    http.patch(
      '/organizations/:organization_id',
      {
        config: { scopes: ['admin:write'], managers: true },
        schema: {
          tags,
          summary: 'Change the name or the color of an organization',
          params,
          body: z.object({ name: name.optional(), color: color.nullable().optional() }),
          response: {
            200: organizationView,
            ...refusals('admin', 'role_required', 'organization_not_found', 'invalid_input'),
          },
        },
      },
      async (request) => {
        const call = inOrganization(request, request.params.organization_id)
        const { name, color } = request.body
        if (name) await renameOrganization({ name }, call)
        if (color !== undefined) await colorOrganization({ color }, call)
        return getOrganization(call.organizationId)
      },
    )
  }
