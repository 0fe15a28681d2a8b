import { decideCreate, type Rules } from '../src/domain/agent/agent.ts'
import type { AgentConfiguration } from '../src/domain/agent/events.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import { type Change, changed } from '../src/domain/changes.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { idFor } from '../src/support/ids.ts'

type Uses = Streams & {
  clock: Clock
  modelFault: Rules['modelFault']
}

/** Only the name must be given; `agentId` where it has to be known beforehand. */
export type CreateAgent = { agentId?: string } & Pick<AgentConfiguration, 'name'> &
  Change<AgentConfiguration>

/** Settings that a new agent has unless told otherwise. */
const unsaid: Omit<AgentConfiguration, 'name'> = {
  description: '',
  agentType: 'LLM_AGENT',
  model: null,
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
}

/** The whole configuration of a new agent. */
export const newConfiguration = (settings: Omit<CreateAgent, 'agentId'>): AgentConfiguration =>
  changed({ ...unsaid, name: settings.name }, settings)

/**
 * Creates an agent in the call's organization.
 * @throws organization_not_found, unknown_model, unknown_sub_agent, agent_cycle, agent_depth,
 * agent_name_taken, agent_limit_reached, too_complex
 */
export const createAgent =
  ({ load, transact, clock, modelFault }: Uses) =>
  async ({ agentId, ...settings }: CreateAgent, call: Call) => {
    const { organizationId } = call
    const organization = await load(organizationStream(organizationId))
    requireOrganization(organization.state)
    const { orchestratorAgentId } = organization.state
    const id = agentId ?? idFor(clock, call, `agent/${settings.name}`)
    const rules = { orchestratorAgentId, modelFault }
    const decide = decideCreate(id, newConfiguration(settings), rules)
    const { position } = await transact(organizationAgentsStream(organizationId), decide, call)
    return { agentId: id, position }
  }
export type CreateAgentCommand = ReturnType<typeof createAgent>
