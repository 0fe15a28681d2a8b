import { queryOptions } from '@tanstack/react-query'
import { answerOf, api } from '../../api/client.ts'
import type { AgentType } from './agent-types.ts'

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

/** The models that agents can name. */
export const modelsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['models', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/models', {
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
