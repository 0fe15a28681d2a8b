import { agentStream, decideCreate } from '../src/domain/agent/agent.ts'
import type { AgentConfiguration } from '../src/domain/agent/events.ts'
import { idFor } from '../src/ids.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import type { Transact } from '../src/transact.ts'

type Uses = {
  transact: Transact
  clock: Clock
  /** `provider/model` of agents for which nothing else is said. */
  defaultModel: string
}

/** Only the name must be given; `agentId` where it has to be known beforehand. */
export type CreateAgent = { agentId?: string } & Pick<AgentConfiguration, 'name'> &
  Partial<AgentConfiguration>

const unsaid = {
  description: '',
  agentType: 'LLM_AGENT',
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
} satisfies Partial<AgentConfiguration>

/** Creates an agent in the call's organization. */
export const createAgent =
  ({ transact, clock, defaultModel }: Uses) =>
  async ({ agentId, ...said }: CreateAgent, call: Call) => {
    const id = agentId ?? idFor(clock, call, `agent/${said.name}`)
    const { agentType = unsaid.agentType } = said
    const model = agentType === 'LLM_AGENT' ? defaultModel : null
    const decide = decideCreate({ ...unsaid, model, ...said })
    const { position } = await transact(agentStream(call.organizationId, id), decide, call)
    return { agentId: id, position }
  }
export type CreateAgentCommand = ReturnType<typeof createAgent>
