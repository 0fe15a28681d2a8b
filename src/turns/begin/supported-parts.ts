import type { AgentConfig } from '../../agents/agent.ts'
import { refusal } from '../../domain/refusal.ts'
import type { ContentKind, Models, ResolvedModel } from '../../ports/model.ts'

type Asked = {
  parts: readonly { kind: ContentKind }[]
  /** Is given the turn. */
  agent: AgentConfig
  agents: ReadonlyMap<string, AgentConfig>
  models: Models
}

/** The agents that are shown the message first: the agent, or those that it runs without a model. */
const firstAsked = (agent: AgentConfig, agents: Asked['agents']): AgentConfig[] => {
  const found = new Set([agent])
  for (const one of found)
    if (one.agentType !== 'LLM_AGENT')
      for (const agentId of one.subAgents) {
        const below = agents.get(agentId)
        if (below?.isActive) found.add(below)
      }
  return [...found].filter(({ agentType }) => agentType === 'LLM_AGENT')
}

const words = { image: 'images', audio: 'sounds', file: 'files' } as const

const resolved = (models: Models, name: string | null): ResolvedModel[] => {
  try {
    return [models.resolve(name)]
  } catch {
    return []
  }
}

/**
 * Refuses files that none of the models takes which are shown the message first. Agents that are
 * asked later are shown a line of text in place of what their models do not take.
 * @throws unsupported_content
 */
export const requireTaken = ({ parts, agent, agents, models }: Asked): void => {
  if (parts.length === 0) return
  const asked = firstAsked(agent, agents).flatMap(({ model }) => resolved(models, model))
  // A model that is not configured fails the turn as it does any other.
  if (asked.length === 0) return
  for (const { kind } of parts)
    if (!asked.some(({ takes }) => takes.has(kind))) {
      const names = [...new Set(asked.map(({ name }) => name))].join(', ')
      throw refusal('unsupported_content', {
        field: 'messages',
        message: `The model ${names} takes no ${words[kind]}`,
      })
    }
}
