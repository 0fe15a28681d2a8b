import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import type { Below } from '../src/domain/agent/graph.ts'
import { namesBelow, squadRoots } from '../src/domain/agent/squads.ts'
import { credentialLimit } from '../src/domain/credential/credential-limit.ts'
import type { View } from '../src/ports/views.ts'
import { inTurns, sortedInTurns } from '../src/support/in-turns.ts'
import { readSummaries } from './read-summaries.ts'

type Uses = { agentSummaries: View<AgentSummary>; organizations: View<OrganizationView> }

/** Only LLM agents call their tools. */
const ownCredentials = (agent: AgentSummary): string[] =>
  agent.agent_type === 'LLM_AGENT' ? [...agent.tool_credentials, ...agent.server_credentials] : []

/**
 * Per agent, the credentials of it and all below it, computed over many turns of the event loop.
 */
const credentialsByAgent = async (agents: ReadonlyMap<string, AgentSummary>, below: Below) => {
  const distinct = new Set<string>()
  for (const agent of agents.values()) for (const name of ownCredentials(agent)) distinct.add(name)
  const names = await sortedInTurns(distinct)
  const places = new Map(names.map((name, place) => [name, place]))
  const own = (id: string) => {
    const agent = agents.get(id)
    const positions = agent ? ownCredentials(agent).flatMap((name) => places.get(name) ?? []) : []
    return positions.sort((a, b) => a - b)
  }
  const needed = new Map<string, string[]>()
  for await (const lot of inTurns(namesBelow(agents.keys(), below, own, credentialLimit)))
    for (const { agentId, places } of lot)
      needed.set(
        agentId,
        places.flatMap((place) => names[place] ?? []),
      )
  return needed
}

/**
 * The agents of an organization in the order of their creation, each with the root of its squad and
 * the credentials that it and all below it need, as many as a user can have
 * (docs/contract/provisioned-users.md#agents-that-need-credentials).
 */
export const listManagementAgents =
  ({ agentSummaries, organizations }: Uses) =>
  async (organizationId: string) => {
    const organization = await organizations.get(organizationId)
    const of = { index: 'by_organization', equals: [organizationId] }
    const items = await readSummaries(agentSummaries, of)
    const orchestrator = organization?.orchestrator_agent_id
    const known = new Map(items.map((agent) => [agent.agent_id, agent]))
    const below = (id: string) => known.get(id)?.sub_agents ?? []
    const rootOf = squadRoots(known.keys(), (id) => (id === orchestrator ? [] : below(id)))
    const needed = await credentialsByAgent(known, below)
    return {
      agents: items.map(({ agent_id, name, agent_type }) => {
        const root = rootOf.get(agent_id) ?? agent_id
        return {
          agent_id,
          name,
          agent_type,
          root_agent_id: root,
          is_root: root === agent_id,
          needs_credentials: needed.get(agent_id) ?? [],
        }
      }),
      total: items.length,
      organization_id: organizationId,
    }
  }
export type ListManagementAgents = ReturnType<typeof listManagementAgents>
