import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ChangeAgentCommand } from '../../../commands/change-agent.ts'
import { agentView } from '../../../projections/agents.ts'
import type { GetAgent } from '../../../queries/get-agent.ts'
import type { ListManagementAgents } from '../../../queries/list-management-agents.ts'
import { refusals } from '../errors/responses.ts'
import { instruction } from '../wire/agents.ts'
import { pathId } from '../wire/fields.ts'

const managementAgentList = z.object({
  agents: z.array(
    agentView.pick({ agent_id: true, name: true, agent_type: true }).extend({
      root_agent_id: agentView.shape.agent_id,
      is_root: z.boolean(),
      needs_credentials: z.array(z.string()),
    }),
  ),
  total: z.int(),
  organization_id: z.string(),
})

/** GET /management/agents: the squads that connect links are made for. */
export const managementAgentRoutes =
  ({ listSquads }: { listSquads: ListManagementAgents }): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/management/agents',
      {
        config: { group: 'detail', scopes: ['agents:list'] },
        schema: {
          tags: ['management'],
          summary: 'List agents with the root agent of their squad and the credentials they need',
          response: { 200: managementAgentList, ...refusals('detail') },
        },
      },
      ({ access }) => listSquads(access.organizationId),
    )
  }

type Uses = {
  changeAgent: ChangeAgentCommand
  getAgent: GetAgent
}

/**
 * PUT /management/agents/{agent_id}/instruction
 * (docs/contract/provisioned-users.md#replacing-an-instruction).
 */
export const instructionRoutes =
  ({ changeAgent, getAgent }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.put(
      '/management/agents/:agent_id/instruction',
      {
        config: { group: 'management', scopes: ['agents:manage'], userKey: true, managers: true },
        schema: {
          tags: ['management'],
          summary: 'Replace an agent’s instruction; needs a user key of an owner or admin',
          params: z.object({ agent_id: pathId }),
          body: z.object({ instruction }),
          response: {
            200: agentView.pick({ agent_id: true, updated_at: true }),
            ...refusals('management', 'user_key_required', 'role_required', 'agent_not_found'),
          },
        },
      },
      async ({ params: { agent_id }, body, call }) => {
        await changeAgent({ agentId: agent_id, change: body }, call)
        const { updated_at } = await getAgent(call.organizationId, agent_id)
        return { agent_id, updated_at }
      },
    )
  }
