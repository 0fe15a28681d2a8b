import { refusal } from '../refusal.ts'
import type { AgentConfiguration } from './events.ts'

/** An agent that turns are given to. @throws agent_not_found, agent_inactive */
export const requireActive = <Agent extends Pick<AgentConfiguration, 'isActive'>>(
  agent: Agent | undefined,
): Agent => {
  if (!agent) throw refusal('agent_not_found')
  if (!agent.isActive) throw refusal('agent_inactive')
  return agent
}

/**
 * An agent that a client calls by itself, past the orchestrator.
 * @throws agent_not_found, agent_inactive, invalid_agent_type
 */
export const requireCallable = <Agent extends Pick<AgentConfiguration, 'isActive' | 'agentType'>>(
  agent: Agent | undefined,
): Agent => {
  const active = requireActive(agent)
  if (active.agentType !== 'LLM_AGENT') throw refusal('invalid_agent_type')
  return active
}
