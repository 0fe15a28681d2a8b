import { map } from 'rxjs'
import type { AgentConfig } from '../../agents/agent.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import type { RecordedAnswer } from '../../agents/journal.ts'
import type { Tool } from '../../agents/tool.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import { refusal } from '../../domain/refusal.ts'
import { systemCall } from '../../ports/call.ts'
import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import { openedBefore, openedRequest } from '../begin/stored-request.ts'
import { agentInput } from '../run/agent-input.ts'
import { callIds } from '../run/client-calls.ts'
import type { TurnRequest } from '../turn.ts'
import type { RecordedTurn } from './recorded-turn.ts'
import type { RecordedCall } from './replay.ts'

export type Configured = ReadonlyMap<string, AgentConfig>

/** The calls of a run, each with the agent that made it. */
export type AgentCall = RecordedCall & { agent: string }

export const callsIn = ({ events, key }: RecordedTurn): AgentCall[] => {
  const results = new Map<string, { ok: boolean; content: string }>()
  for (const { type, data } of events)
    if (type === 'ToolCompleted' && data.at !== undefined && data.result)
      results.set(data.at, { ok: data.ok, content: key.open(data.result) })
  return events.flatMap(({ type, data }) => {
    if (type !== 'ToolStarted') return []
    const result = results.get(data.at ?? '')
    const { tool, agent, arguments: args } = data
    return [{ tool, agent, arguments: key.open(args), ...(result ? { result } : {}) }]
  })
}

/** The answer of a run that had only one: it is the message. */
export const onlyAnswer = ({ events, key }: RecordedTurn): RecordedAnswer | undefined => {
  let text: string | undefined
  for (const { type, data } of events) {
    if (type === 'AssistantMessageRecorded') text = key.open(data.content)
    if (type !== 'RunCompleted' || text === undefined) continue
    const { model, finishReason, promptTokens, completionTokens } = data
    const usage = { promptTokens, completionTokens }
    return { model, price: { prompt: 0, completion: 0 }, usage, finishReason, text, calls: [] }
  }
  return undefined
}

/** The called tools that are none of the agent's own: those of its MCP servers. */
const serverTools = (calledNames: readonly string[], own: readonly Tool[]): Tool[] => {
  const ownNames = new Set(own.map(({ spec }) => spec.name))
  const names = [...new Set(calledNames)].filter((name) => !ownNames.has(name))
  return names.map((name) => ({
    spec: { name, description: 'A tool of an MCP server', parameters: { type: 'object' } },
    run: () => [],
  }))
}

/**
 * The tools of an agent without asking its MCP servers, as that would take the user's credentials:
 * of theirs it has those that it called.
 */
export const toolsWithoutServers =
  (toolsOf: RuntimePorts['toolsOf'], calls: readonly AgentCall[]): RuntimePorts['toolsOf'] =>
  (agent, turn) => {
    const own = toolsOf({ ...agent, mcpServers: [] }, turn)
    if (agent.mcpServers.length === 0) return own
    const names = calls.filter((call) => call.agent === agent.name).map(({ tool }) => tool)
    return own.pipe(map((tools) => [...tools, ...serverTools(names, tools)]))
  }

type Given = {
  organizationId: string
  agents: Configured
  /** Of the session. */
  files: KeyedBlobs
  at: Date
}

/**
 * The turn as it was given to agents, with these as they are configured. @throws agent_not_found
 */
export const turnOf = (
  { sessionId, started, before, events, key }: RecordedTurn,
  { organizationId, agents, files, at }: Given,
): AgentTurn => {
  const { runId, continues } = started
  const {
    targetAgentId,
    clientTools,
    keywordTools,
    settings,
    format,
    after,
    system = [],
  } = openedRequest(key, started.request)
  const find = (agentId: string): AgentConfig => {
    const agent = agents.get(agentId)
    if (!agent) throw refusal('agent_not_found')
    return agent
  }
  const results = events.flatMap(({ type, data }) =>
    type === 'ClientToolAnswered' ? [{ toolId: data.toolId, content: key.open(data.content) }] : [],
  )
  const message = before.recent.at(-1)
  const request: TurnRequest = {
    call: { ...systemCall(runId, at, organizationId), onBehalfOf: before.ownerId },
    viewer: { userId: before.ownerId, onlyKeyId: null },
    sessionId,
    hidden: undefined,
    message: message ? key.open(message.content) : '',
    system,
    before: openedBefore(key, started.before),
    ...(after ? { after } : {}),
    ...(continues === undefined ? {} : { results }),
    agent: find(started.agentId),
    agents,
    messageId: started.messageId,
    payerId: started.payerId,
  }
  return {
    call: request.call,
    runId,
    sessionId,
    agent: request.agent,
    agents,
    ...agentInput(request, before, key, () => files).turn,
    ...(clientTools ? { clientTools: { ...clientTools, callId: callIds(runId) } } : {}),
    ...(keywordTools ? { keywordTools } : {}),
    ...(targetAgentId === undefined ? {} : { target: find(targetAgentId) }),
    ...(settings ? { settings } : {}),
    ...(format ? { format } : {}),
  }
}
