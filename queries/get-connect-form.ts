import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { CredentialView } from '../projections/credentials.ts'
import type { FindAgents } from '../src/caches/find-agents.ts'
import { connectWords } from '../src/domain/agent/connect-words.ts'
import { credentialHosts } from '../src/domain/agent/credential-hosts.ts'
import type { View } from '../src/ports/views.ts'
import type { HostsOf } from './find-credential.ts'
import { connectingAgents, consentsOf, listConnectItems } from './list-connect-items.ts'
import { readSummaries } from './read-summaries.ts'

type Uses = {
  agentSummaries: View<AgentSummary>
  findAgents: FindAgents
  credentials: View<CredentialView>
  hostsOf: HostsOf
}

/**
 * What the connect page tells a user: each credential in the words of the agents' configuration,
 * the hosts that are sent its value, and since when it is connected. The hosts are those of the
 * agent and all below it, and those that the user agreed to before and other agents still name.
 * @throws agent_not_found
 */
export const getConnectForm = (uses: Uses) => {
  const { agentSummaries, findAgents } = uses
  const listItems = listConnectItems(uses)
  const consents = consentsOf(uses)
  const agentsOf = connectingAgents(findAgents)
  const allAgents = async (organizationId: string) => {
    const of = { index: 'by_organization', equals: [organizationId] }
    const summaries = await readSummaries(agentSummaries, of)
    const targets = summaries.map(({ agent_id }) => agent_id)
    return (await findAgents(organizationId, { targets })).agents
  }
  return async (organizationId: string, userId: string, agentId: string) => {
    const { items } = await listItems(organizationId, userId, agentId)
    const agents = await agentsOf(organizationId, agentId)
    const words = connectWords(agentId, (id) => agents.get(id))
    const currentHosts = credentialHosts((await allAgents(organizationId)).values())
    const credentials = await consents(organizationId, userId)
    return items.map(({ name, connected }) => {
      const item = words.get(name) ?? { hosts: [] }
      const { since, hosts: agreed = [] } = credentials.get(name) ?? {}
      const stillUsed = agreed.filter((host) => currentHosts.get(name)?.includes(host))
      const hosts = [...new Set([...item.hosts, ...stillUsed])].toSorted()
      return { name, ...item, hosts, connectedAt: connected ? since : undefined }
    })
  }
}
export type GetConnectForm = ReturnType<typeof getConnectForm>
export type ConnectFormItem = Awaited<ReturnType<GetConnectForm>>[number]
