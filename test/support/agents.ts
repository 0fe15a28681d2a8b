import { from, type Observable, of } from 'rxjs'
import { modelsFrom } from '../../src/adapters/models/registry.ts'
import type { AgentConfig } from '../../src/agents/agent.ts'
import type { RuntimePorts } from '../../src/agents/agent-kind.ts'
import type { Tool, ToolContext, ToolResult } from '../../src/agents/tool.ts'
import type { AgentTurn } from '../../src/agents/turn.ts'
import { toolName } from '../../src/domain/agent/events.ts'
import type { Call } from '../../src/ports/call.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ContentKind, Model, ModelEvent, ModelRequest, Models } from '../../src/ports/model.ts'
import { configured } from './configured.ts'

const call: Call = {
  organizationId: 'org-1',
  keyId: 'key-1',
  userId: 'user-1',
  onBehalfOf: null,
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
  at: '2026-01-01T00:00:00.000Z',
}

const toolConfig = (name: string) => ({
  type: 'api_call' as const,
  name,
  description: name,
  method: 'GET',
  url: 'https://api.invalid/',
  headers: {},
  parameters: {},
})

/** An active LLM agent whose id is its name in lower case. */
export const agentNamed = (
  name: string,
  { toolNames = [], ...more }: Partial<AgentConfig> & { toolNames?: readonly string[] } = {},
): AgentConfig => ({
  agentId: name.toLowerCase(),
  ...configured(name, { model: null, instruction: `You are ${name}.` }),
  tools: toolNames.map(toolConfig),
  ...more,
})

/** Stands still; ids count from 1. */
export const fixedClock = (): Clock => {
  let ids = 0
  const now = new Date(call.at)
  return { now: () => now, monotonic: () => 0, id: () => `id-${++ids}` }
}

export const turnOf = (
  agent: AgentConfig,
  message: string,
  more: Partial<AgentTurn> = {},
): AgentTurn => ({
  call,
  agent,
  runId: 'run-1',
  sessionId: 'session-1',
  agents: new Map(),
  message,
  history: [],
  ...more,
})

export const toolNamed = (
  name: string,
  run: (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ToolResult>,
): Tool => ({ spec: { name, description: name, parameters: { type: 'object' } }, run })

/** The model that a request is answered by is a function of the request. */
export type Script = (request: ModelRequest) => Observable<ModelEvent> | readonly ModelEvent[]

/** Agents by their ids, as a turn has them. */
export const byId = (agents: readonly AgentConfig[]): ReadonlyMap<string, AgentConfig> =>
  new Map(agents.map((agent) => [agent.agentId, agent]))

/** Every model name answers by the script, for 1 micro-credit a token. */
export const scripted = (script: Script): Models => {
  const model: Model = { stream: (request) => from(script(request)) }
  const price = { prompt: 1, completion: 1 }
  const takes: ReadonlySet<ContentKind> = new Set()
  return {
    resolve: (name) => ({
      model,
      name: name ?? 'test/model',
      id: name ?? 'model',
      price,
      takes,
    }),
  }
}

/** A host with these tools, offline unless told otherwise. */
export const hostOf = ({
  tools = [],
  models = modelsFrom({}),
}: {
  tools?: readonly Tool[]
  models?: Models
} = {}): RuntimePorts => ({
  models,
  clock: fixedClock(),
  toolsOf: (agent) => {
    const named = agent.tools.map(toolName)
    return of(tools.filter(({ spec }) => named.includes(spec.name)))
  },
  textMisfitOf: async () => undefined,
})
