import type { AgentConfigEvent } from './events.ts'
import type { OrganizationAgents } from './organization-agents.ts'

/** Active agents that answer from a DataStore. */
export const agentsWith = ({ agents }: OrganizationAgents, datastoreId: string) =>
  Object.entries(agents)
    .filter(([, { isActive, datastoreIds }]) => isActive && datastoreIds.includes(datastoreId))
    .map(([agentId, { name }]) => ({ agentId, name }))

/** Removes a DataStore from every agent that names it. */
export const decideDetach =
  (datastoreId: string) =>
  ({ agents }: OrganizationAgents): AgentConfigEvent<'AgentChanged'>[] =>
    Object.entries(agents)
      .filter(([, agent]) => agent.datastoreIds.includes(datastoreId))
      .map(([agentId, agent]) => ({
        type: 'AgentChanged',
        data: { agentId, datastoreIds: agent.datastoreIds.filter((id) => id !== datastoreId) },
      }))
