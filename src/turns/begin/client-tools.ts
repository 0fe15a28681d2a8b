import type { RunView } from '../../../projections/runs.ts'
import type { AgentConfig } from '../../agents/agent.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import { keywordTools } from '../../agents/keyword-tools.ts'
import { transferName } from '../../agents/transfer.ts'
import type { ClientTools } from '../../agents/turn.ts'
import { toolName } from '../../domain/agent/events.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { ChatMessage } from '../../ports/model.ts'
import { runOfCall } from '../run/client-calls.ts'
import type { ToolAnswer } from '../turn.ts'

/** Names that the runtime gives to tools of its own. */
const reserved = [transferName, 'exit_loop']

type Agents = ReadonlyMap<string, AgentConfig>

/** An agent and all that it can hand a turn to. */
const reachable = (first: AgentConfig, agents: Agents): Set<AgentConfig> => {
  const found = new Set([first])
  for (const { subAgents } of found)
    for (const agentId of subAgents) {
      const agent = agents.get(agentId)
      if (agent?.isActive) found.add(agent)
    }
  return found
}

const configured = ({ tools, datastoreIds }: AgentConfig): string[] => [
  ...tools.map(toolName).filter((name) => !keywordTools.includes(name)),
  ...(datastoreIds.length > 0 ? ['search_knowledge'] : []),
]

const requireFree = ({ specs }: Pick<ClientTools, 'specs'>, taken: ReadonlySet<string>): void => {
  const name = specs.find((spec) => taken.has(spec.name))?.name
  if (name === undefined) return
  throw refusal('tool_name_taken', {
    field: 'tools',
    message: `An agent has a tool of the name ${name} already`,
  })
}

type Offered = {
  tools: Pick<ClientTools, 'specs'>
  /** Is given the turn. */
  agent: AgentConfig
  agents: Agents
  call: Call
}

/**
 * Refuses names that an agent has which the turn can come to. MCP servers are asked for the first
 * agent only; a name that one has below is found when its agent runs. @throws tool_name_taken
 */
export const requireFreeNames =
  (toolsOf: RuntimePorts['toolsOf']) =>
  async ({ tools, agent, agents, call }: Offered): Promise<void> => {
    requireFree(tools, new Set([...reserved, ...[...reachable(agent, agents)].flatMap(configured)]))
    if (agent.mcpServers.length === 0) return
    const turn = { call, agent, agents, runId: '', sessionId: '', message: '', history: [] }
    const own = await toolsOf(agent, turn)
    requireFree(tools, new Set(own.map(({ spec }) => spec.name)))
  }

const notOpen = (callId: string) =>
  refusal('invalid_tool_result', {
    field: 'messages',
    message: `There is no open call ${callId}`,
  })

/**
 * The session whose calls are answered without naming it. Undefined for calls that were made
 * elsewhere and stand in `after` with their results. @throws invalid_tool_result
 */
export const findCalledSession =
  (findRun: (runId: string) => Promise<RunView | undefined>) =>
  async (
    organizationId: string,
    results: readonly ToolAnswer[],
    after: readonly ChatMessage[],
  ): Promise<string | undefined> => {
    for (const { toolId } of results) {
      const runId = runOfCall(toolId)
      if (runId === undefined) continue
      const run = await findRun(runId)
      if (run?.organization_id !== organizationId) throw notOpen(toolId)
      return run.session_id
    }
    const answered = new Set(after.map((one) => one.role === 'tool' && one.toolCallId))
    for (const { toolId } of results) if (!answered.has(toolId)) throw notOpen(toolId)
    return undefined
  }
