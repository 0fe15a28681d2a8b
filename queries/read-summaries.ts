import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { Find, View } from '../src/ports/views.ts'
import { readInOrder } from './read-in-order.ts'

export type Summaries = Pick<View<AgentSummary>, 'find'>

/** All agents of an organization that an index finds, the oldest first. */
export const readSummaries = async (
  summaries: Summaries,
  of: Pick<Find, 'index' | 'equals'>,
): Promise<AgentSummary[]> => {
  const all: AgentSummary[] = []
  for await (const some of readInOrder(summaries, of)) all.push(...some)
  return all
}
