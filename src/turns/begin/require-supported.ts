import { firstValueFrom } from 'rxjs'
import type { AgentConfig } from '../../agents/agent.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import { keywordTools } from '../../agents/keyword-tools.ts'
import { transferName } from '../../agents/transfer.ts'
import type { ClientTools } from '../../agents/turn.ts'
import { toolName } from '../../domain/agent/events.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { ContentKind, Models, ResolvedModel } from '../../ports/model.ts'
import type { ChosenAgents } from './choose-agents.ts'
import type { TurnInput } from './turn-input.ts'

/** Names that the runtime gives to tools of its own. */
const reserved = [transferName, 'exit_loop']

type Agents = ReadonlyMap<string, AgentConfig>

/** An agent and all that it can hand a turn to. */
const reachable = (first: AgentConfig, agents: Agents): Set<AgentConfig> => {
  const all = new Set([first])
  for (const { subAgents } of all)
    for (const agentId of subAgents) {
      const agent = agents.get(agentId)
      if (agent?.isActive) all.add(agent)
    }
  return all
}

const toolNamesOf = ({ tools, datastoreIds }: AgentConfig): string[] => [
  ...tools.map(toolName).filter((name) => !keywordTools.includes(name)),
  ...(datastoreIds.length > 0 ? ['search_knowledge'] : []),
]

const requireOther = ({ specs }: Pick<ClientTools, 'specs'>, names: ReadonlySet<string>): void => {
  const name = specs.find((spec) => names.has(spec.name))?.name
  if (name === undefined) return
  throw refusal('tool_name_taken', {
    field: 'tools',
    message: `An agent has a tool of the name ${name} already`,
  })
}

/** The agents that see the message first: the agent, or those that it runs without a model. */
const firstReaders = (agent: AgentConfig, agents: Agents): AgentConfig[] => {
  const all = new Set([agent])
  for (const { agentType, subAgents } of all)
    if (agentType !== 'LLM_AGENT')
      for (const agentId of subAgents) {
        const below = agents.get(agentId)
        if (below?.isActive) all.add(below)
      }
  return [...all].filter(({ agentType }) => agentType === 'LLM_AGENT')
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
 * Refuses files that no model takes among those that see the message first. Agents that see it
 * later get a line of text in place of what their models do not take.
 */
const requireSupportedParts = (
  parts: readonly { kind: ContentKind }[],
  first: AgentConfig,
  agents: Agents,
  models: Models,
): void => {
  if (parts.length === 0) return
  const readers = firstReaders(first, agents).flatMap(({ model }) => resolved(models, model))
  // A model that is not configured fails the turn as it does any other.
  if (readers.length === 0) return
  for (const { kind } of parts)
    if (!readers.some(({ takes }) => takes.has(kind))) {
      const names = [...new Set(readers.map(({ name }) => name))].join(', ')
      throw refusal('unsupported_content', {
        field: 'messages',
        message: `The model ${names} takes no ${words[kind]}`,
      })
    }
}

type Uses = { toolsOf: RuntimePorts['toolsOf']; models: Models }

/** Refuses tools and files that the agents of a turn cannot use. */
export const requireSupported = ({ toolsOf, models }: Uses) => {
  /**
   * MCP servers are asked for the first agent only. A name that one has below is noticed when its
   * agent runs.
   */
  const requireFreeToolNames = async (
    tools: Pick<ClientTools, 'specs'>,
    agent: AgentConfig,
    agents: Agents,
    call: Call,
  ): Promise<void> => {
    const names = [...reachable(agent, agents)].flatMap(toolNamesOf)
    requireOther(tools, new Set([...reserved, ...names]))
    if (agent.mcpServers.length === 0) return
    const turn = { call, agent, agents, runId: '', sessionId: '', message: '', history: [] }
    const own = await firstValueFrom(toolsOf(agent, turn))
    requireOther(tools, new Set(own.map(({ spec }) => spec.name)))
  }

  /** @throws tool_name_taken, unsupported_content */
  return async (
    call: Call,
    { agent, target = agent, agents }: ChosenAgents,
    input: TurnInput,
  ): Promise<void> => {
    if (input.clientTools) await requireFreeToolNames(input.clientTools, target, agents, call)
    if (input.kind === 'message') requireSupportedParts(input.parts, target, agents, models)
  }
}
