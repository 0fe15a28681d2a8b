import { decideChange, decideCreate, type Rules } from '../src/domain/agent/agent.ts'
import type { AgentConfiguration } from '../src/domain/agent/events.ts'
import {
  organizationAgents,
  organizationAgentsStream,
  requireAgent,
} from '../src/domain/agent/organization-agents.ts'
import { evolved } from '../src/domain/aggregate.ts'
import type { Change } from '../src/domain/changes.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { idFor } from '../src/support/ids.ts'
import { type CreateAgent, newConfiguration } from './create-agent.ts'

type Uses = Pick<Streams, 'load'> & { clock: Clock; modelFault: Rules['modelFault'] }

/** A change of an agent, or a new one. */
export type AgentDraft =
  | { kind: 'change'; agentId: string; change: Change<AgentConfiguration> }
  | { kind: 'new'; settings: Omit<CreateAgent, 'agentId'> }

/**
 * The agent that saving a draft would make, with its id; a new one's id is never used again.
 * Stores nothing. @throws what createAgent and changeAgent throw
 */
export const checkDraft =
  ({ load, clock, modelFault }: Uses) =>
  async (draft: AgentDraft, call: Call) => {
    const { organizationId } = call
    const organization = await load(organizationStream(organizationId))
    requireOrganization(organization.state)
    const { orchestratorAgentId } = organization.state
    const rules = { orchestratorAgentId, modelFault }
    const { state } = await load(organizationAgentsStream(organizationId))
    const agentId = draft.kind === 'change' ? draft.agentId : idFor(clock, call, 'draft')
    const decide =
      draft.kind === 'change'
        ? decideChange(agentId, draft.change, rules)
        : decideCreate(agentId, newConfiguration(draft.settings), rules)
    const { agents } = evolved(organizationAgents, state, decide(state))
    return { ...requireAgent(agents, agentId), agentId }
  }
export type CheckDraft = ReturnType<typeof checkDraft>
