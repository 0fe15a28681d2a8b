import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import { unixSeconds } from '../src/support/iso-time.ts'
import { readSummaries } from './read-summaries.ts'

/** The model that stands for an organization's orchestrator. */
export const orchestratorModel = 'svc-orchestrator'

type Uses = { agentSummaries: View<AgentSummary>; organizations: View<OrganizationView> }

const ownedBy = 'reprise'

/** In the shape of OpenAI's models, with the agent's name and description. */
const modelOf = ({ agent_id, name, description, created_at }: AgentSummary, id = agent_id) => ({
  id,
  object: 'model' as const,
  created: unixSeconds(created_at),
  owned_by: ownedBy,
  name,
  description,
})

/**
 * What a chat's `model` can name: the orchestrator, then every active agent, the oldest first
 * (GET /api/external/v1/models).
 */
export const listModels =
  ({ agentSummaries, organizations }: Uses) =>
  async (organizationId: string) => {
    const organization = await organizations.get(organizationId)
    const of = { index: 'by_active', equals: [organizationId, true] }
    const items = await readSummaries(agentSummaries, of)
    const id = organization?.orchestrator_agent_id
    const orchestrator = items.find(({ agent_id }) => agent_id === id)
    return [
      ...(orchestrator ? [modelOf(orchestrator, orchestratorModel)] : []),
      ...items.map((agent) => modelOf(agent)),
    ]
  }
export type ListModels = ReturnType<typeof listModels>

/** One of them, by its id (GET /api/external/v1/models/{model_id}). @throws model_not_found */
export const getModel =
  ({ agentSummaries, organizations }: Uses) =>
  async (organizationId: string, id: string) => {
    const agentId =
      id === orchestratorModel
        ? (await organizations.get(organizationId))?.orchestrator_agent_id
        : id
    const agent = agentId ? await agentSummaries.get(agentId) : undefined
    if (agent?.organization_id !== organizationId || !agent.is_active)
      throw refusal('model_not_found', { field: 'model', message: `There is no model ${id}` })
    return modelOf(agent, id)
  }
export type GetModel = ReturnType<typeof getModel>
