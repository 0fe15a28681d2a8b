import { type Aggregate, streamOf } from '../aggregate.ts'
import { changed } from '../changes.ts'
import { refusal } from '../refusal.ts'
import { type AgentConfiguration, agentEvents } from './events.ts'

/** Agents by id, in the order in which they were created. */
export type Agents = Readonly<Record<string, AgentConfiguration>>

/**
 * All agents of an organization: one stream, since who runs whom is decided on all of them. A cycle
 * that two changes would make together is refused to the second.
 */
export type OrganizationAgents = { agents: Agents }

/** Roughly what an agent takes besides its instruction and tools, and what one tool takes. */
const bareAgent = 500
const bareTool = 500

export const organizationAgents: Aggregate<OrganizationAgents, typeof agentEvents> = {
  category: 'squad',
  events: agentEvents,
  initial: { agents: {} },
  stateVersion: 2,
  evolve: {
    AgentCreated: ({ agents }, { agentId, ...configuration }) => ({
      agents: { ...agents, [agentId]: configuration },
    }),
    AgentChanged: (state, { agentId, ...change }) => {
      const before = agentIn(state.agents, agentId)
      return before ? { agents: { ...state.agents, [agentId]: changed(before, change) } } : state
    },
    AgentDeleted: ({ agents }, { agentId }) => {
      const { [agentId]: _, ...others } = agents
      return { agents: others }
    },
  },
  weigh: ({ agents }) =>
    Object.values(agents).reduce(
      (sum, { instruction, tools }) =>
        sum + bareAgent + instruction.length + bareTool * tools.length,
      0,
    ),
}

/** The stream of an organization's agents: `squad-<id>_<id>`. */
export const organizationAgentsStream = (organizationId: string) =>
  streamOf(organizationAgents, organizationId, organizationId)

export const agentIn = (agents: Agents, agentId: string): AgentConfiguration | undefined =>
  Object.hasOwn(agents, agentId) ? agents[agentId] : undefined

/** @throws agent_not_found */
export const requireAgent = (agents: Agents, agentId: string): AgentConfiguration => {
  const found = agentIn(agents, agentId)
  if (!found) throw refusal('agent_not_found')
  return found
}
