import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ChangeAgentCommand } from '../../../commands/change-agent.ts'
import type { CreateAgentCommand } from '../../../commands/create-agent.ts'
import type { DeleteAgentCommand } from '../../../commands/delete-agent.ts'
import type { GetAgent } from '../../../queries/get-agent.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ListWholeAgents } from '../../../queries/list-whole-agents.ts'
import type { Call } from '../../ports/call.ts'
import type { McpStanding } from '../../tools/mcp-standings.ts'
import type { Toolbox } from '../../tools/toolbox.ts'
import type { RequireCallable } from '../checks/agent-tools.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { agentValues } from '../checks/json-text.ts'
import { unfitAgent } from '../errors/agent-refusals.ts'
import { refusals } from '../errors/responses.ts'
import { agentChange, configurationOf, newAgent, wholeAgent } from '../wire/agents.ts'
import { pageQuery, pagingFields, pathId } from '../wire/fields.ts'

/** How MCP servers answer, and a way to ask them in the background. */
export type McpServers = Pick<Toolbox['mcp'], 'standingOf' | 'check'>

type Uses = {
  createAgent: CreateAgentCommand
  changeAgent: ChangeAgentCommand
  deleteAgent: DeleteAgentCommand
  getOrganization: GetOrganization
  getAgent: GetAgent
  listWholeAgents: ListWholeAgents
  requireCallable: RequireCallable
  mcp: McpServers
}

const params = z.object({ organization_id: pathId })
const agentParams = params.extend({ agent_id: pathId })

const reads = { scopes: ['admin:read'], managers: true } as const
const writes = { scopes: ['admin:write'], managers: true } as const

const statusOf = (standing: McpStanding) => ({
  state: standing.state,
  last_error: standing.state === 'failing' ? standing.fault : null,
  checked_at: standing.state === 'unknown' ? null : new Date(standing.at).toISOString(),
  ...(standing.leftOut ? { left_out: [...standing.leftOut] } : {}),
})

/** The agents of an organization (docs/contract/admin-api.md#agents). */
export const adminAgentRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createAgent, changeAgent, deleteAgent } = uses
    const { getOrganization, getAgent, listWholeAgents } = uses
    const { requireCallable, mcp } = uses

    const withServerStatus = (organizationId: string, agent: Awaited<ReturnType<GetAgent>>) => ({
      ...agent,
      mcp_servers: agent.mcp_servers.map((server) => ({
        ...server,
        status: statusOf(mcp.standingOf(organizationId, server)),
      })),
    })

    /** An agent that was just configured: its servers are asked in the background. */
    const configured = async (call: Call, agentId: string) => {
      const agent = await getAgent(call.organizationId, agentId)
      mcp.check(agent.mcp_servers, call)
      return withServerStatus(call.organizationId, agent)
    }
    const tags = ['admin: agents']

    http.get(
      '/organizations/:organization_id/agents',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List agents with their whole configuration, the oldest first',
          params,
          querystring: pageQuery,
          response: {
            200: z.object({ agents: z.array(wholeAgent), ...pagingFields }),
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        const { page, page_size } = request.query
        const list = await listWholeAgents(organizationId, { page, pageSize: page_size })
        return {
          ...list,
          agents: list.agents.map((agent) => withServerStatus(organizationId, agent)),
        }
      },
    )

    http.post(
      '/organizations/:organization_id/agents',
      {
        config: { ...writes, mostValues: agentValues },
        schema: {
          tags,
          summary: 'Create an agent',
          params,
          body: newAgent,
          response: {
            201: wholeAgent,
            ...refusals(
              'admin',
              'role_required',
              'organization_not_found',
              ...unfitAgent,
              'agent_limit_reached',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const call = inOrganization(request, request.params.organization_id)
        const { name } = request.body
        await requireCallable(request.body, call)
        const { agentId } = await createAgent({ ...configurationOf(request.body), name }, call)
        return reply.code(201).send(await configured(call, agentId))
      },
    )

    http.get(
      '/organizations/:organization_id/agents/:agent_id',
      {
        config: reads,
        schema: {
          tags,
          summary: 'Get one agent with its whole configuration',
          params: agentParams,
          response: { 200: wholeAgent, ...refusals('admin', 'role_required', 'agent_not_found') },
        },
      },
      async (request) => {
        const { organization_id, agent_id } = request.params
        inOrganization(request, organization_id)
        return withServerStatus(organization_id, await getAgent(organization_id, agent_id))
      },
    )

    http.patch(
      '/organizations/:organization_id/agents/:agent_id',
      {
        config: { ...writes, mostValues: agentValues },
        schema: {
          tags,
          summary: 'Change an agent’s configuration; running turns keep the one they began with',
          params: agentParams,
          body: agentChange,
          response: {
            200: wholeAgent,
            ...refusals(
              'admin',
              'role_required',
              'organization_not_found',
              'agent_not_found',
              ...unfitAgent,
              'orchestrator_required',
            ),
          },
        },
      },
      async (request) => {
        const { organization_id, agent_id } = request.params
        const call = inOrganization(request, organization_id)
        await requireCallable(request.body, call)
        const change = configurationOf(request.body)
        await changeAgent({ agentId: agent_id, change }, call)
        return configured(call, agent_id)
      },
    )

    http.delete(
      '/organizations/:organization_id/agents/:agent_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Delete an agent that is not the sub-agent of another',
          params: agentParams,
          response: {
            204: z.undefined(),
            ...refusals(
              'admin',
              'role_required',
              'organization_not_found',
              'agent_not_found',
              'agent_in_use',
              'orchestrator_required',
            ),
          },
        },
      },
      async (request, reply) => {
        const { organization_id, agent_id } = request.params
        const call = inOrganization(request, organization_id)
        await deleteAgent({ agentId: agent_id }, call)
        return reply.code(204).send()
      },
    )
  }
