import type { AgentSummary } from '../projections/agent-summaries.ts'
import { readSummaries, type Summaries } from './read-summaries.ts'

type Filter = { agentType?: AgentSummary['agent_type'] | undefined; isActive?: boolean | undefined }

const indexFor = ({ agentType, isActive }: Filter) => {
  if (agentType === undefined)
    return isActive === undefined
      ? { index: 'by_organization', equals: [] }
      : { index: 'by_active', equals: [isActive] }
  return isActive === undefined
    ? { index: 'by_type', equals: [agentType] }
    : { index: 'by_type_and_active', equals: [agentType, isActive] }
}

const itemOf = (view: AgentSummary, defaultModel: string) => ({
  agent_id: view.agent_id,
  name: view.name,
  agent_type: view.agent_type,
  description: view.description,
  is_active: view.is_active,
  model: view.model ?? (view.agent_type === 'LLM_AGENT' ? defaultModel : null),
  has_tools: view.has_tools,
  has_mcp: view.has_mcp,
})

/**
 * The agents that match a filter, oldest first (GET /api/external/agents). Agents that name no
 * model are shown with the platform's default.
 */
export const listAgents =
  ({ summaries, defaultModel }: { summaries: Summaries; defaultModel: string }) =>
  async (organizationId: string, filter: Filter) => {
    const { index, equals } = indexFor(filter)
    const agents = await readSummaries(summaries, { index, equals: [organizationId, ...equals] })
    return {
      agents: agents.map((view) => itemOf(view, defaultModel)),
      total: agents.length,
      organization_id: organizationId,
    }
  }
export type ListAgents = ReturnType<typeof listAgents>
