import type { AgentConfigEvent, AgentConfiguration } from '../../src/domain/agent/events.ts'

/** An active LLM agent that says nothing of what it need not. */
export const configured = (
  name: string,
  more: Partial<AgentConfiguration> = {},
): AgentConfiguration => ({
  name,
  description: '',
  agentType: 'LLM_AGENT',
  model: 'test/model',
  instruction: '',
  isActive: true,
  tools: [],
  mcpServers: [],
  subAgents: [],
  datastoreIds: [],
  temperature: null,
  maxTokens: null,
  outputKey: null,
  maxIterations: null,
  exitCondition: null,
  ...more,
})

/** An agent whose name is its id. */
export const created = (
  agentId: string,
  more: Partial<AgentConfiguration> = {},
): AgentConfigEvent<'AgentCreated'> => ({
  type: 'AgentCreated',
  data: { agentId, ...configured(agentId, more) },
})
