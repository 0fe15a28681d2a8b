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
  /** Why there is no model of this name, in words; undefined where there is. */
  modelFault(model: string): string | undefined
}

/** Agents that only run others have no model. */
const withModel = (configuration: AgentConfiguration) => ({
  ...configuration,
  model: configuration.agentType === 'LLM_AGENT' ? configuration.model : null,
})

/** @throws unknown_model */
const requireModel = ({ model }: AgentConfiguration, { modelFault }: Rules): void => {
  const message = model === null ? undefined : modelFault(model)
  if (message) throw refusal('unknown_model', { field: 'model', message })
}

/** Makes sure of one agent among the others. @throws too_complex and what requireSound throws */
const requireFit = (
  { agents }: OrganizationAgents,
  agentId: string,
  configuration: AgentConfiguration,
  { orchestratorAgentId }: Rules,
): void => {
  if (JSON.stringify(configuration).length > sizeLimit)
    throw refusal('too_complex', {
      message: `An agent's configuration has at most ${sizeLimit} characters in all`,
    })
  requireSound({ ...agents, [agentId]: configuration }, { agentId, orchestratorAgentId })
}

/**
 * An agent of that id is created once.
 * @throws agent_limit_reached, unknown_model and what requireFit throws
 */
export const decideCreate =
  (agentId: string, requested: AgentConfiguration, rules: Rules) =>
  (state: OrganizationAgents): AgentConfigEvent<'AgentCreated'>[] => {
    if (agentIn(state.agents, agentId)) return []
    if (Object.keys(state.agents).length >= agentLimit) throw refusal('agent_limit_reached')
    const configuration = withModel(requested)
    requireModel(configuration, rules)
    requireFit(state, agentId, configuration, rules)
    return [{ type: 'AgentCreated', data: { agentId, ...configuration } }]
  }

/**
 * The orchestrator stays an active LLM agent: every turn begins with it. An agent may keep a model
 * whose provider is gone.
 * @throws agent_not_found, orchestrator_required, unknown_model and what requireFit throws
 */
export const decideChange =
  (agentId: string, change: Change<AgentConfiguration>, rules: Rules) =>
  (state: OrganizationAgents): AgentConfigEvent<'AgentChanged'>[] => {
    const before = requireAgent(state.agents, agentId)
    const after = withModel(changed(before, change))
    if (after.model !== before.model) requireModel(after, rules)
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
