import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ChangeAgentCommand } from '../../../commands/change-agent.ts'
import type { CreateAgentCommand } from '../../../commands/create-agent.ts'
import type { DeleteAgentCommand } from '../../../commands/delete-agent.ts'
import type { GetAgent } from '../../../queries/get-agent.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ListWholeAgents } from '../../../queries/list-whole-agents.ts'
import type { Call } from '../../ports/call.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import { type FindSchemaFault, requireTools } from '../checks/agent-tools.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { agentChange, configurationOf, newAgent, wholeAgent } from '../wire/agents.ts'
import { pageQuery, pagingFields, pathId } from '../wire/fields.ts'

type Uses = {
  createAgent: CreateAgentCommand
  changeAgent: ChangeAgentCommand
  deleteAgent: DeleteAgentCommand
  getOrganization: GetOrganization
  getAgent: GetAgent
  listWholeAgents: ListWholeAgents
  schemaFault: JsonSchemas['faultOf']
  waitForPosition: WaitForPosition
}

const params = z.object({ organization_id: pathId })
const agentParams = params.extend({ agent_id: pathId })

const reads = { scopes: ['admin:read'], managers: true } as const
const writes = { scopes: ['admin:write'], managers: true } as const

const unfit = [
  'invalid_input',
  'invalid_tool',
  'unknown_model',
  'unknown_sub_agent',
  'agent_cycle',
  'agent_depth',
  'agent_name_taken',
] as const

/** The agents of an organization (docs/contract/admin-api.md#agents). */
export const adminAgentRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createAgent, changeAgent, deleteAgent, waitForPosition } = uses
    const { getOrganization, getAgent, listWholeAgents } = uses
    const fits =
      (call: Call): FindSchemaFault =>
      (schema) =>
        uses.schemaFault(call.organizationId, schema)
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
        return listWholeAgents(organizationId, { page, pageSize: page_size })
      },
    )

    http.post(
      '/organizations/:organization_id/agents',
      {
        config: writes,
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
              ...unfit,
              'agent_limit_reached',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const call = inOrganization(request, request.params.organization_id)
        const { name } = request.body
        await requireTools(request.body.tools ?? [], fits(call))
        const { agentId, position } = await createAgent(
          { ...configurationOf(request.body), name },
          call,
        )
        await waitForPosition(position)
        return reply.code(201).send(await getAgent(call.organizationId, agentId))
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
        return getAgent(organization_id, agent_id)
      },
    )

    http.patch(
      '/organizations/:organization_id/agents/:agent_id',
      {
        config: writes,
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
              ...unfit,
              'orchestrator_required',
            ),
          },
        },
      },
      async (request) => {
        const { organization_id, agent_id } = request.params
        const call = inOrganization(request, organization_id)
        await requireTools(request.body.tools ?? [], fits(call))
        const change = configurationOf(request.body)
        const { position } = await changeAgent({ agentId: agent_id, change }, call)
        await waitForPosition(position)
        return getAgent(organization_id, agent_id)
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
        const { position } = await deleteAgent({ agentId: agent_id }, call)
        await waitForPosition(position)
        return reply.code(204).send()
      },
    )
  }
