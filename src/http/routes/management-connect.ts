import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CreateConnectLinkCommand } from '../../../commands/create-connect-link.ts'
import type { RequireProvisionedUser } from '../../../commands/require-provisioned-user.ts'
import type { RevokeConnectLinksCommand } from '../../../commands/revoke-connect-links.ts'
import { connectLinkView } from '../../../projections/connect-links.ts'
import type { ListConnectItems } from '../../../queries/list-connect-items.ts'
import type { OwnPage } from '../checks/own-page.ts'
import { refusals } from '../errors/responses.ts'
import { provisionedUser } from '../wire/fields.ts'

type Uses = {
  createConnectLink: CreateConnectLinkCommand
  revokeConnectLinks: RevokeConnectLinksCommand
  requireProvisionedUser: RequireProvisionedUser
  listConnectItems: ListConnectItems
  baseOf: OwnPage['baseOf']
}

const items = {
  items: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['api_call', 'mcp_server']),
      connected: z.boolean(),
    }),
  ),
  skipped: z.array(
    z.object({
      name: z.string(),
      reason: z.enum([
        'provided_by_organization',
        'provided_by_system',
        'no_credential_schema',
        'too_many_items',
      ]),
    }),
  ),
}

const agent_id = z.string().min(1).max(64)

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

const isReturnUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username || password) return false
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))
}

const return_url = z
  .string()
  .max(2_048)
  .refine(isReturnUrl, 'An https address is expected; http only on the own machine')

/**
 * Connect links of users that the organization provisioned
 * (docs/contract/provisioned-users.md#connect-links).
 */
export const managementConnectRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createConnectLink, revokeConnectLinks, requireProvisionedUser } = uses
    const { listConnectItems, baseOf } = uses
    const config = {
      group: 'management',
      scopes: ['users:credentials'],
      managers: true,
    } as const
    const tags = ['management']
    const refused = ['role_required', 'user_not_found', 'not_provisioned'] as const

    http.post(
      '/management/users/:user_id/connect-links',
      {
        config,
        schema: {
          tags,
          summary: 'Create a link where the user connects what an agent and its sub-agents need',
          params: provisionedUser,
          body: z.object({ agent_id, return_url }),
          response: {
            201: z.object({
              link_id: connectLinkView.shape.link_id,
              url: z.string(),
              expires_at: connectLinkView.shape.expires_at,
              ...items,
            }),
            ...refusals(
              'management',
              ...refused,
              'agent_not_found',
              'nothing_to_connect',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { params, body, call } = request
        const userId = params.user_id
        const link = { userId, agentId: body.agent_id, returnUrl: body.return_url }
        const { linkId, token, expiresAt } = await createConnectLink(link, call)
        const connectItems = await listConnectItems(call.organizationId, userId, body.agent_id)
        return reply.code(201).send({
          link_id: linkId,
          url: `${baseOf(request)}/connect/${token}`,
          expires_at: expiresAt,
          ...connectItems,
        })
      },
    )

    http.get(
      '/management/users/:user_id/connect-status',
      {
        config,
        schema: {
          tags,
          summary: 'List what an agent and its sub-agents need of the user, and what is connected',
          params: provisionedUser,
          querystring: z.object({ agent_id }),
          response: {
            200: z.object(items),
            ...refusals('management', ...refused, 'agent_not_found'),
          },
        },
      },
      async ({ params: { user_id }, query, call }) => {
        await requireProvisionedUser(user_id, call)
        return listConnectItems(call.organizationId, user_id, query.agent_id)
      },
    )

    http.delete(
      '/management/users/:user_id/connect-links',
      {
        config,
        schema: {
          tags,
          summary: 'Revoke all valid links of the user',
          params: provisionedUser,
          response: {
            200: z.object({ revoked: z.int() }),
            ...refusals('management', ...refused),
          },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireProvisionedUser(user_id, call)
        const { revoked } = await revokeConnectLinks({ userId: user_id }, call)
        return { revoked }
      },
    )
  }
