export type AgentType = 'LLM_AGENT' | 'SEQUENTIAL_AGENT' | 'PARALLEL_AGENT' | 'LOOP_AGENT'

/** What an agent is made of (decisions, section 4). The orchestrator is an LLM agent. */
export type AgentConfig = {
  agentId: string
  name: string
  description: string
  agentType: AgentType
  /** `provider/model`; null: the configured default, or an agent that calls no model. */
  model: string | null
  /** `{key}` is filled with the output that an agent before this one left under `outputKey`. */
  instruction: string
  isActive: boolean
  tools: readonly string[]
  mcpServers: readonly string[]
  /** Agent ids, in order. */
  subAgents: readonly string[]
  datastoreIds: readonly string[]
  temperature: number | null
  maxTokens: number | null
  outputKey: string | null
  /** LOOP_AGENT only; null: 3. */
  maxIterations: number | null
  /** LOOP_AGENT only: a phrase in the output of a sub-agent that ends the loop. */
  exitCondition: string | null
}

/** The agents cannot be run as they are configured (500 orchestrator_error). */
export class AgentFault extends Error {
  override readonly name = 'AgentFault'
}

/** The turn took longer than it may (504). */
export class TurnTimeout extends Error {
  override readonly name = 'TurnTimeout'
}
