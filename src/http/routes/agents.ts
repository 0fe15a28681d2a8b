import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ListAgents } from '../../../queries/list-agents.ts'
import { refusals } from '../errors/responses.ts'
import { agentItem, agentType } from '../wire/agents.ts'
import { boolean } from '../wire/fields.ts'

const filter = z.object({ agent_type: agentType.optional(), is_active: boolean.optional() })

/** GET /api/external/agents. */
export const agentRoutes =
  ({ listAgents }: { listAgents: ListAgents }): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/agents',
      {
        config: { group: 'agents', scopes: ['agents:list'] },
        schema: {
          tags: ['agents'],
          summary: 'List agents, the oldest first',
          querystring: filter,
          response: {
            200: z.object({
              agents: z.array(agentItem),
              total: z.int(),
              organization_id: z.string(),
            }),
            ...refusals('agents', 'invalid_filter'),
          },
        },
      },
      ({ access, query }) =>
        listAgents(access.organizationId, {
          agentType: query.agent_type,
          isActive: query.is_active,
        }),
    )
  }
