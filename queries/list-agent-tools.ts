import { type AgentSummary, endOf } from '../projections/agent-summaries.ts'
import { longestId } from '../src/support/ids.ts'
import type { Summaries } from './read-summaries.ts'

/** Agents of one page. */
const pageSize = 200

/**
 * One page of an organization's active agents in the order of their ids, and the last id where
 * there are more.
 */
export const listAgentTools =
  ({ summaries }: { summaries: Summaries }) =>
  async (organizationId: string, after: string | undefined) => {
    const { items } = await summaries.find({
      index: 'active_by_id',
      equals: [organizationId, true],
      ...(after === undefined ? {} : { from: after.slice(0, longestId) }),
      limit: pageSize + 2,
    })
    const rest = items.filter(({ agent_id }) => agent_id !== after)
    const agents = rest.slice(0, pageSize)
    return { agents, next: rest.length > pageSize ? agents.at(-1)?.agent_id : undefined }
  }
export type ListAgentTools = ReturnType<typeof listAgentTools>

/** The active agent whose id has this suffix. */
export const findAgentTool =
  ({ summaries }: { summaries: Summaries }) =>
  async (organizationId: string, idEnd: string): Promise<AgentSummary | undefined> => {
    const of = { index: 'by_id_end', equals: [organizationId, idEnd] }
    const { items } = await summaries.find({ ...of, limit: 2 })
    return items.find(({ is_active, agent_id }) => is_active && endOf(agent_id) === idEnd)
  }
export type FindAgentTool = ReturnType<typeof findAgentTool>
