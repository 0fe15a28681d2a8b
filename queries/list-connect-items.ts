import { serversOf, toolsOf } from '../projections/agent-tools.ts'
import { type AgentView, wordsOf } from '../projections/agents.ts'
import type { CredentialView } from '../projections/credentials.ts'
import { agentLimit } from '../src/domain/agent/agent.ts'
import { type ConnectingAgent, connectItems } from '../src/domain/agent/connect-items.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import { listCredentials } from './list-credentials.ts'

type Uses = { agents: View<AgentView>; credentials: View<CredentialView> }

const callerOf = ({
  agent_type,
  tools,
  mcp_servers,
  sub_agents,
  credentials,
}: AgentView): ConnectingAgent => ({
  agentType: agent_type,
  tools: toolsOf(tools),
  mcpServers: serversOf(mcp_servers),
  subAgents: sub_agents,
  ...(credentials ? { credentials: credentials.map(wordsOf) } : {}),
})

/** The agents of an organization by id, as far as connecting is concerned. */
export const connectingAgents = (agents: View<AgentView>) => async (organizationId: string) => {
  const { items } = await agents.find({
    index: 'by_organization',
    equals: [organizationId],
    limit: agentLimit,
  })
  return new Map(items.map((view) => [view.agent_id, callerOf(view)]))
}

/**
 * What a user connects for an agent and all that it runs, and what of it is connected.
 * @throws agent_not_found
 */
export const listConnectItems =
  ({ agents, credentials }: Uses) =>
  async (organizationId: string, userId: string, agentId: string) => {
    const callers = await connectingAgents(agents)(organizationId)
    if (!callers.has(agentId)) throw refusal('agent_not_found')
    const stored = await listCredentials(credentials)(organizationId, userId)
    const connected = new Set(stored.credentials.map(({ name }) => name))
    const { items, skipped } = connectItems(agentId, (id) => callers.get(id))
    return { items: items.map((one) => ({ ...one, connected: connected.has(one.name) })), skipped }
  }
export type ListConnectItems = ReturnType<typeof listConnectItems>
