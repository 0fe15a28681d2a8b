import { serversOf, toolsOf } from '../projections/agent-tools.ts'
import { type AgentView, wordsOf } from '../projections/agents.ts'
import type { CredentialView } from '../projections/credentials.ts'
import { agentLimit } from '../src/domain/agent/agent.ts'
import { type ConnectingAgent, callersOf, connectItems } from '../src/domain/agent/connect-items.ts'
import { credentialHosts } from '../src/domain/agent/credential-hosts.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { HostsOf } from './find-credential.ts'
import { mostCredentials } from './list-credentials.ts'

type Uses = {
  agents: View<AgentView>
  credentials: View<CredentialView>
  hostsOf: HostsOf
}

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

/** A user's credentials by name: since when each is there, and the hosts that it may be sent to. */
export const consentsOf =
  ({ credentials, hostsOf }: Pick<Uses, 'credentials' | 'hostsOf'>) =>
  async (organizationId: string, userId: string) => {
    const { items } = await credentials.find({
      index: 'by_user',
      equals: [organizationId, userId],
      limit: mostCredentials,
    })
    const consents = new Map<string, { since: string; hosts: readonly string[] }>()
    for (const view of items)
      consents.set(view.name, { since: view.updated_at, hosts: await hostsOf(view) })
    return consents
  }

/**
 * What a user connects for an agent and all that it runs, and what of it is connected: where the
 * value may be sent to each host that needs it.
 * @throws agent_not_found
 */
export const listConnectItems =
  ({ agents, ...stored }: Uses) =>
  async (organizationId: string, userId: string, agentId: string) => {
    const callers = await connectingAgents(agents)(organizationId)
    if (!callers.has(agentId)) throw refusal('agent_not_found')
    const agentOf = (id: string) => callers.get(id)
    const consents = await consentsOf(stored)(organizationId, userId)
    const needed = credentialHosts(callersOf(agentId, agentOf))
    const isConnected = (name: string): boolean => {
      const hosts = consents.get(name)?.hosts
      return hosts !== undefined && (needed.get(name) ?? []).every((host) => hosts.includes(host))
    }
    const { items, skipped } = connectItems(agentId, agentOf)
    return { items: items.map((one) => ({ ...one, connected: isConnected(one.name) })), skipped }
  }
export type ListConnectItems = ReturnType<typeof listConnectItems>
