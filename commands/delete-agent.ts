import { decideDelete } from '../src/domain/agent/agent.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** @throws organization_not_found, agent_not_found, orchestrator_required, agent_in_use */
export const deleteAgent =
  ({ load, transact }: Streams) =>
  async ({ agentId }: { agentId: string }, call: Call) => {
    const { organizationId } = call
    const { state } = await load(organizationStream(organizationId))
    requireOrganization(state)
    const decide = decideDelete(agentId, state)
    return transact(organizationAgentsStream(organizationId), decide, call)
  }
export type DeleteAgentCommand = ReturnType<typeof deleteAgent>
