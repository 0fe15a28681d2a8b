import { refusal } from '../refusal.ts'
import { levelCounter, wayBack } from './graph.ts'
import { type Agents, agentIn } from './organization-agents.ts'

/** The most agents one below the other, under the orchestrator (docs/contract/agents.md#types). */
export const levelLimit = 8

type Changed = { agentId: string; orchestratorAgentId: string }

/** The place of the first sub-agent that is called like one before it; -1 where none is. */
const sameName = (agents: Agents, subAgents: readonly string[]): number => {
  const names = subAgents.map((id) => agentIn(agents, id)?.name.trim().toLowerCase())
  return names.findIndex((name, n) => names.indexOf(name) < n)
}

/**
 * Makes sure of who runs whom, after one agent was created or changed: every sub-agent exists,
 * no agent runs itself, no chain is too long, and the sub-agents of one agent have distinct names,
 * since `transfer_to_agent` goes by name. The orchestrator can send a turn to any agent
 * (`target_agent_id`), so chains are counted below it, wherever they hang.
 * @throws unknown_sub_agent, agent_cycle, agent_depth, agent_name_taken
 */
export const requireSound = (agents: Agents, { agentId, orchestratorAgentId }: Changed): void => {
  const below = (id: string) => agentIn(agents, id)?.subAgents ?? []
  const nameOf = (id: string) => agentIn(agents, id)?.name ?? id
  const subAgents = below(agentId)

  const unknown = subAgents.findIndex((id) => !agentIn(agents, id))
  if (unknown !== -1)
    throw refusal('unknown_sub_agent', {
      field: `subAgents.${unknown}`,
      message: `The organization has no agent ${subAgents[unknown]}`,
    })

  const way = wayBack(agentId, below)
  if (way)
    throw refusal('agent_cycle', {
      field: 'subAgents',
      message: `An agent cannot run itself: ${way.map(nameOf).join(' → ')}`,
    })

  const levels = levelCounter(below)
  const tall = Object.keys(agents).find(
    (id) => id !== orchestratorAgentId && levels(id) > levelLimit,
  )
  if (tall)
    throw refusal('agent_depth', {
      field: 'subAgents',
      message: `${nameOf(tall)} would begin a chain of ${levels(tall)} agents; ${levelLimit} is the most`,
    })

  for (const [id, { name, subAgents }] of Object.entries(agents)) {
    if (id !== agentId && !subAgents.includes(agentId)) continue
    const twice = sameName(agents, subAgents)
    if (twice === -1) continue
    throw refusal('agent_name_taken', {
      field: id === agentId ? `subAgents.${twice}` : 'name',
      message: `${name} has two sub-agents called ${nameOf(subAgents[twice] ?? '')}`,
    })
  }
}
