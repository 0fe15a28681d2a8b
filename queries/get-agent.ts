import type { AgentView } from '../projections/agents.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** An agent with all that it is configured by. */
export const wholeOf = ({ organization_id: _, ...agent }: AgentView) => agent

/** @throws agent_not_found */
export const getAgent =
  ({ agents }: { agents: View<AgentView> }) =>
  async (organizationId: string, agentId: string) => {
    const agent = await agents.get(agentId)
    if (agent?.organization_id !== organizationId) throw refusal('agent_not_found')
    return wholeOf(agent)
  }
export type GetAgent = ReturnType<typeof getAgent>
