import type { AgentConfig } from '../../agents/agent.ts'
import type { FindAgents } from '../../caches/find-agents.ts'
import { requireActive, requireCallable } from '../../domain/agent/runnable.ts'
import type { AgentChoice } from './turn-input.ts'

export type ChosenAgents = {
  /** Is given the turn. */
  agent: AgentConfig
  /** `agent` hands the turn straight to this one. */
  target: AgentConfig | undefined
  /** By id, all that the turn can reach. */
  agents: ReadonlyMap<string, AgentConfig>
  /** The agent is not saved. */
  isDraft?: true
}

/** Whether a model's name can be an agent's id: most are not looked up. */
const isAgentId = (model: string | undefined): boolean =>
  model !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(model)

/** The agents that a draft can reach, and the draft itself. */
export const draftTeam = async (
  findAgents: FindAgents,
  organizationId: string,
  draft: AgentConfig,
): Promise<Pick<ChosenAgents, 'agent' | 'agents'>> => {
  const { agents } = await findAgents(organizationId, { targets: draft.subAgents })
  return { agent: draft, agents: new Map(agents).set(draft.agentId, draft) }
}

/** Finds the agents of a turn. @throws agent_not_found, agent_inactive, invalid_agent_type */
export const chooseAgents =
  (findAgents: FindAgents) =>
  async (organizationId: string, choice: AgentChoice): Promise<ChosenAgents> => {
    if (choice.kind === 'draft')
      return {
        ...(await draftTeam(findAgents, organizationId, choice.agent)),
        target: undefined,
        isDraft: true,
      }
    const { targetAgentId } = choice
    const agentId = choice.kind === 'agent' ? choice.agentId : undefined
    const model = choice.kind === 'orchestrator' ? choice.model : undefined
    const targets = [targetAgentId, isAgentId(model) ? model : undefined]
    const { orchestrator, agents } = await findAgents(organizationId, { agentId, targets })
    const require = choice.kind === 'agent' && choice.anyType ? requireActive : requireCallable
    const agent = agentId === undefined ? orchestrator : require(agents.get(agentId))
    if (targetAgentId) return { agent, target: requireActive(agents.get(targetAgentId)), agents }
    const named = model === orchestrator.agentId ? undefined : agents.get(model ?? '')
    return { agent, target: named?.isActive ? named : undefined, agents }
  }
