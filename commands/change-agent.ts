import { decideChange, type Rules } from '../src/domain/agent/agent.ts'
import type { AgentConfiguration } from '../src/domain/agent/events.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import type { Change } from '../src/domain/changes.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

type Uses = Streams & {
  modelFault: Rules['modelFault']
}

export type ChangeAgent = { agentId: string; change: Change<AgentConfiguration> }

/**
 * Changes what is named of an agent, its being active included. Turns that run keep the
 * configuration they started with.
 * @throws organization_not_found, agent_not_found, orchestrator_required, unknown_model,
 * unknown_sub_agent,
 * agent_cycle, agent_depth, agent_name_taken, too_complex
 */
export const changeAgent =
  ({ load, transact, modelFault }: Uses) =>
  async ({ agentId, change }: ChangeAgent, call: Call) => {
    const { organizationId } = call
    const organization = await load(organizationStream(organizationId))
    requireOrganization(organization.state)
    const { orchestratorAgentId } = organization.state
    const decide = decideChange(agentId, change, { orchestratorAgentId, modelFault })
    return transact(organizationAgentsStream(organizationId), decide, call)
  }
export type ChangeAgentCommand = ReturnType<typeof changeAgent>
