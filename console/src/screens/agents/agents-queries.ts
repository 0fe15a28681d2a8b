import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'
import type { AgentType } from './agent-types.ts'

type List = Answer<'/api/admin/organizations/{organization_id}/agents'>
export type Agent = List['agents'][number]

const pageSize = 200

const getAgents = async (organizationId: string): Promise<Agent[]> => {
  const agents: Agent[] = []
  for (let page = 1; ; page++) {
    const list = await answerOf(
      api.GET('/api/admin/organizations/{organization_id}/agents', {
        params: { path: { organization_id: organizationId }, query: { page, page_size: pageSize } },
      }),
    )
    agents.push(...list.agents)
    if (!list.has_next) return agents
  }
}

/** All agents with their settings, the oldest first. */
export const agentsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['agents', organizationId],
    queryFn: () => getAgents(organizationId),
  })

export const agentQuery = (organizationId: string, agentId: string) =>
  queryOptions({
    queryKey: ['agent', organizationId, agentId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/agents/{agent_id}', {
          params: { path: { organization_id: organizationId, agent_id: agentId } },
        }),
      ),
  })

/** The organization, which names its orchestrator. */
export const organizationQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}', {
          params: { path: { organization_id: organizationId } },
        }),
      ),
    staleTime: 60_000,
  })

/** Agents as everybody with `agents:list` sees them, with the models that answer. */
export const listedAgentsQuery = queryOptions({
  queryKey: ['listed-agents'],
  queryFn: () => answerOf(api.GET('/api/external/agents', {})),
})

export const typeLabels: Readonly<Record<AgentType, string>> = {
  LLM_AGENT: 'Model agent',
  SEQUENTIAL_AGENT: 'Sequential',
  PARALLEL_AGENT: 'Parallel',
  LOOP_AGENT: 'Loop',
}
