import type { AgentView } from '../projections/agents.ts'
import type { CredentialView } from '../projections/credentials.ts'
import { connectWords } from '../src/domain/agent/connect-words.ts'
import type { View } from '../src/ports/views.ts'
import { connectingAgents, listConnectItems } from './list-connect-items.ts'
import { listCredentials } from './list-credentials.ts'

type Uses = { agents: View<AgentView>; credentials: View<CredentialView> }

/**
 * What the connect page tells a user: each credential in the words of the agents' configuration, the
 * hosts that are sent its value, and since when it is connected.
 * @throws agent_not_found
 */
export const getConnectForm = ({ agents, credentials }: Uses) => {
  const listItems = listConnectItems({ agents, credentials })
  const stored = listCredentials(credentials)
  const agentsOf = connectingAgents(agents)
  return async (organizationId: string, userId: string, agentId: string) => {
    const { items } = await listItems(organizationId, userId, agentId)
    const found = await agentsOf(organizationId)
    const words = connectWords(agentId, (id) => found.get(id))
    const since = new Map(
      (await stored(organizationId, userId)).credentials.map((one) => [one.name, one.updated_at]),
    )
    return items.map(({ name }) => ({
      name,
      ...(words.get(name) ?? { hosts: [] }),
      connectedAt: since.get(name),
    }))
  }
}
export type GetConnectForm = ReturnType<typeof getConnectForm>
export type ConnectFormItem = Awaited<ReturnType<GetConnectForm>>[number]
