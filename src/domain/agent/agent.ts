import { type Change, changed, differing } from '../changes.ts'
import { refusal } from '../refusal.ts'
import type { AgentConfigEvent, AgentConfiguration } from './events.ts'
import { agentIn, type OrganizationAgents, requireAgent } from './organization-agents.ts'
import { requireSound } from './valid-agents.ts'

/** The most agents of an organization, and the largest agent in characters of JSON. */
export const agentLimit = 1_000
const sizeLimit = 100_000

/** What applies to every agent of an organization. */
export type Rules = {
  orchestratorAgentId: string
  /** `provider/model` of LLM agents for which no other is named. */
  defaultModel: string
}

/** Agents that only run others have no model. */
const withModel = (configuration: AgentConfiguration, { defaultModel }: Rules) => ({
  ...configuration,
  model: configuration.agentType === 'LLM_AGENT' ? configuration.model || defaultModel : null,
})

/** Makes sure of one agent among the others. @throws invalid_input and what requireSound throws */
const requireFit = (
  { agents }: OrganizationAgents,
  agentId: string,
  configuration: AgentConfiguration,
  { orchestratorAgentId }: Rules,
): void => {
  if (JSON.stringify(configuration).length > sizeLimit)
    throw refusal('invalid_input', {
      message: `An agent's configuration has at most ${sizeLimit} characters in all`,
    })
  requireSound({ ...agents, [agentId]: configuration }, { agentId, orchestratorAgentId })
}

/** An agent of that id is created once. @throws agent_limit_reached and what requireFit throws */
export const decideCreate =
  (agentId: string, asked: AgentConfiguration, rules: Rules) =>
  (state: OrganizationAgents): AgentConfigEvent<'AgentCreated'>[] => {
    if (agentIn(state.agents, agentId)) return []
    if (Object.keys(state.agents).length >= agentLimit) throw refusal('agent_limit_reached')
    const configuration = withModel(asked, rules)
    requireFit(state, agentId, configuration, rules)
    return [{ type: 'AgentCreated', data: { agentId, ...configuration } }]
  }

/**
 * The orchestrator stays an active LLM agent: every turn begins with it.
 * @throws agent_not_found, orchestrator_required and what requireFit throws
 */
export const decideChange =
  (agentId: string, change: Change<AgentConfiguration>, rules: Rules) =>
  (state: OrganizationAgents): AgentConfigEvent<'AgentChanged'>[] => {
    const before = requireAgent(state.agents, agentId)
    const after = withModel(changed(before, change), rules)
    if (
      agentId === rules.orchestratorAgentId &&
      (!after.isActive || after.agentType !== 'LLM_AGENT')
    )
      throw refusal('orchestrator_required')
    const data = differing(before, after)
    if (Object.keys(data).length === 0) return []
    requireFit(state, agentId, after, rules)
    return [{ type: 'AgentChanged', data: { agentId, ...data } }]
  }

/** @throws agent_not_found, orchestrator_required, agent_in_use where other agents run it */
export const decideDelete =
  (agentId: string, { orchestratorAgentId }: Pick<Rules, 'orchestratorAgentId'>) =>
  ({ agents }: OrganizationAgents): AgentConfigEvent<'AgentDeleted'>[] => {
    requireAgent(agents, agentId)
    if (agentId === orchestratorAgentId) throw refusal('orchestrator_required')
    const above = Object.entries(agents)
      .filter(([, { subAgents }]) => subAgents.includes(agentId))
      .map(([id, { name }]) => ({ agentId: id, name }))
    if (above.length > 0) {
      const names = above.map(({ name }) => name).join(', ')
      throw refusal('agent_in_use', { message: `The agent is run by: ${names}`, agents: above })
    }
    return [{ type: 'AgentDeleted', data: { agentId } }]
  }
