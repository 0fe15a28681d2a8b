import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ProvisionUserCommand } from '../../../commands/provision-user.ts'
import { memberView } from '../../../projections/members.ts'
import type { ListProvisionedUsers } from '../../../queries/list-provisioned-users.ts'
import { refusal } from '../../domain/refusal.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { email, id, name, orAbsent, pageQuery, pagingFields } from '../wire/fields.ts'

type Uses = {
  provisionUser: ProvisionUserCommand
  listProvisionedUsers: ListProvisionedUsers
}

const membership_status = memberView.shape.status

const provisioned = z.object({
  user_id: id,
  email: z.string(),
  created: z.boolean(),
  membership_status,
})

const listed = z.object({
  user_id: memberView.shape.user_id,
  email: z.string().nullable(),
  name: z.string().nullable(),
  membership_status,
  created_at: memberView.shape.created_at,
})

/** @throws invalid_email */
const addressOf = (text: string): string => {
  const parsed = email.safeParse(text)
  if (parsed.success) return parsed.data
  const issue = {
    path: ['body', 'email'],
    message: 'not an email address',
    kind: 'value_error.email',
  }
  throw refusal('invalid_email', { issues: [issue] })
}

/** Accounts that a partner creates and acts for (docs/contract/provisioned-users.md#accounts). */
export const managementUserRoutes =
  ({ provisionUser, listProvisionedUsers }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const config = { group: 'management', scopes: ['users:provision'] } as const
    const tags = ['management']

    http.post(
      '/management/users',
      {
        config: { ...config, managers: 'organization_access_denied' },
        schema: {
          tags,
          summary: 'Create an account for an email address, or get the existing one',
          body: z.object({
            email: z.string(),
            name: orAbsent(name),
            organization_id: z.string(),
          }),
          response: {
            200: provisioned,
            ...refusals(
              'management',
              'invalid_email',
              'account_not_provisionable',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { body } = request
        const address = addressOf(body.email)
        const call = inOrganization(request, body.organization_id)
        const user = await provisionUser({ email: address, name: body.name }, call)
        return {
          user_id: user.userId,
          email: address,
          created: user.created,
          membership_status: user.status,
        }
      },
    )

    http.get(
      '/management/users',
      {
        config,
        schema: {
          tags,
          summary: 'List the accounts that the organization provisioned, the oldest first',
          querystring: pageQuery.extend({ email: z.string().min(1).optional() }),
          response: {
            200: z.object({ users: z.array(listed), ...pagingFields }),
            ...refusals('management'),
          },
        },
      },
      ({ access, query }) =>
        listProvisionedUsers({
          organizationId: access.organizationId,
          email: query.email,
          page: { page: query.page, pageSize: query.page_size },
        }),
    )
  }
