import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { Find, View } from '../src/ports/views.ts'
import { yieldToEventLoop } from '../src/support/yield-to-event-loop.ts'

export type Summaries = Pick<View<AgentSummary>, 'find'>

/** How many are read in one turn of the event loop; each is at most some kilobytes. */
const atOnce = 100

/**
 * All agents of an organization that an index finds, the oldest first, in many turns of the event
 * loop. What is created or removed meanwhile makes none missing and none appear twice.
 */
export const readSummaries = async (
  summaries: Summaries,
  of: Pick<Find, 'index' | 'equals'>,
): Promise<AgentSummary[]> => {
  const all: AgentSummary[] = []
  for (let from = 0; ; await yieldToEventLoop()) {
    // The total is not asked for.
    const { items } = await summaries.find({ ...of, from, limit: atOnce, total: atOnce })
    all.push(...items)
    const last = items.at(-1)
    if (!last || items.length < atOnce) return all
    from = last.position + 1
  }
}
