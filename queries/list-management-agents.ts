import { serversOf, toolsOf } from '../projections/agent-tools.ts'
import type { AgentView } from '../projections/agents.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import { agentLimit } from '../src/domain/agent/agent.ts'
import { credentialsNamed } from '../src/domain/agent/credential-names.ts'
import { reached } from '../src/domain/agent/graph.ts'
import type { View } from '../src/ports/views.ts'

type Uses = { agents: View<AgentView>; organizations: View<OrganizationView> }

/** Only LLM agents call their tools. */
const ownCredentials = (view: AgentView | undefined): string[] =>
  view?.agent_type === 'LLM_AGENT'
    ? credentialsNamed({
        tools: toolsOf(view.tools),
        mcpServers: serversOf(view.mcp_servers),
      })
    : []

/**
 * The agents of an organization in the order of their creation, each with the root of its squad and
 * the credentials that it and all below it need (docs/contract/provisioned-users.md#agents-that-need-credentials).
 */
export const listManagementAgents =
  ({ agents, organizations }: Uses) =>
  async (organizationId: string) => {
    const organization = await organizations.get(organizationId)
    const { items, total } = await agents.find({
      index: 'by_organization',
      equals: [organizationId],
      limit: agentLimit,
    })
    const orchestrator = organization?.orchestrator_agent_id
    const views = new Map(items.map((view) => [view.agent_id, view]))
    const below = (id: string) => views.get(id)?.sub_agents ?? []
    const belowInSquad = (id: string) => (id === orchestrator ? [] : below(id))
    const run = new Set([...views.keys()].flatMap(belowInSquad))
    const rootOf = new Map<string, string>()
    for (const root of views.keys()) {
      if (run.has(root)) continue
      for (const id of reached(root, belowInSquad)) if (!rootOf.has(id)) rootOf.set(id, root)
    }
    return {
      agents: items.map(({ agent_id, name, agent_type }) => {
        const root = rootOf.get(agent_id) ?? agent_id
        const needed = [...reached(agent_id, below)].flatMap((id) => ownCredentials(views.get(id)))
        return {
          agent_id,
          name,
          agent_type,
          root_agent_id: root,
          is_root: root === agent_id,
          needs_credentials: [...new Set(needed)].toSorted(),
        }
      }),
      total,
      organization_id: organizationId,
    }
  }
export type ListManagementAgents = ReturnType<typeof listManagementAgents>
