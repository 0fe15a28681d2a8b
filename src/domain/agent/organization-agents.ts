import { type Aggregate, streamOf } from '../aggregate.ts'
import { changed } from '../changes.ts'
import { refusal } from '../refusal.ts'
import { type AgentConfiguration, agentEvents } from './events.ts'

/** Agents by id, in the order in which they were created. */
export type Agents = Readonly<Record<string, AgentConfiguration>>

/**
 * All agents of an organization: one stream, since who runs whom is decided on all of them. A cycle
 * that two changes would make together is refused to the second. `sizes`: by agent, in characters
 * of its JSON.
 */
export type OrganizationAgents = { agents: Agents; sizes: Readonly<Record<string, number>> }

/** The state with a new or changed agent. */
const withAgent = (
  { agents, sizes }: OrganizationAgents,
  agentId: string,
  agent: AgentConfiguration,
): OrganizationAgents => ({
  agents: { ...agents, [agentId]: agent },
  sizes: { ...sizes, [agentId]: JSON.stringify(agent).length },
})

export const organizationAgents: Aggregate<OrganizationAgents, typeof agentEvents> = {
  category: 'squad',
  events: agentEvents,
  initial: { agents: {}, sizes: {} },
  stateVersion: 3,
  evolve: {
    AgentCreated: (state, { agentId, ...configuration }) =>
      withAgent(state, agentId, configuration),
    AgentChanged: (state, { agentId, ...change }) => {
      const before = agentIn(state.agents, agentId)
      return before ? withAgent(state, agentId, changed(before, change)) : state
    },
    AgentDeleted: ({ agents, sizes }, { agentId }) => {
      const { [agentId]: _, ...otherAgents } = agents
      const { [agentId]: __, ...otherSizes } = sizes
      return { agents: otherAgents, sizes: otherSizes }
    },
  },
  weigh: ({ sizes }) => Object.values(sizes).reduce((sum, size) => sum + size, 0),
}

/** The stream of an organization's agents: `squad-<id>_<id>`. */
export const organizationAgentsStream = (organizationId: string) =>
  streamOf(organizationAgents, organizationId, organizationId)

export const agentIn = (agents: Agents, agentId: string): AgentConfiguration | undefined =>
  Object.hasOwn(agents, agentId) ? agents[agentId] : undefined

/** @throws agent_not_found */
export const requireAgent = (agents: Agents, agentId: string): AgentConfiguration => {
  const agent = agentIn(agents, agentId)
  if (!agent) throw refusal('agent_not_found')
  return agent
}
