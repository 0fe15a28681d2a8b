import type { CredentialView } from '../projections/credentials.ts'
import type { FindAgents } from '../src/caches/find-agents.ts'
import { type ConnectingAgent, callersOf, connectItems } from '../src/domain/agent/connect-items.ts'
import { credentialHosts } from '../src/domain/agent/credential-hosts.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { HostsOf } from './find-credential.ts'
import { mostCredentials } from './list-credentials.ts'

type Uses = {
  findAgents: FindAgents
  credentials: View<CredentialView>
  hostsOf: HostsOf
}

/** An agent and all that it runs, by id. @throws agent_not_found */
export const connectingAgents =
  (findAgents: FindAgents) =>
  async (
    organizationId: string,
    agentId: string,
  ): Promise<ReadonlyMap<string, ConnectingAgent>> => {
    const { agents } = await findAgents(organizationId, { agentId })
    if (!agents.has(agentId)) throw refusal('agent_not_found')
    return agents
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
 * The credentials that a user connects for an agent and all that it runs. One is connected if its
 * value may be sent to each host that needs it.
 * @throws agent_not_found
 */
export const listConnectItems =
  ({ findAgents, ...stored }: Uses) =>
  async (organizationId: string, userId: string, agentId: string) => {
    const callers = await connectingAgents(findAgents)(organizationId, agentId)
    const agentOf = (id: string) => callers.get(id)
    const consents = await consentsOf(stored)(organizationId, userId)
    const needed = credentialHosts(callersOf(agentId, agentOf))
    const isConnected = (name: string): boolean => {
      const hosts = consents.get(name)?.hosts
      return hosts !== undefined && (needed.get(name) ?? []).every((host) => hosts.includes(host))
    }
    const { items, skipped } = connectItems(agentId, agentOf)
    return { items: items.map((item) => ({ ...item, connected: isConnected(item.name) })), skipped }
  }
export type ListConnectItems = ReturnType<typeof listConnectItems>
