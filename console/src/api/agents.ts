import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from './client.ts'

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

const namesIn = (agents: readonly Agent[]): ReadonlyMap<string, string> =>
  new Map(agents.map(({ agent_id, name }) => [agent_id, name]))

/** The names of an organization's agents by their ids. */
export const agentNamesQuery = (organizationId: string) =>
  queryOptions({ ...agentsQuery(organizationId), select: namesIn, staleTime: 30_000 })
