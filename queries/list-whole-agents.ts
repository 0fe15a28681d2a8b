import type { AgentSummary } from '../projections/agent-summaries.ts'
import type { AgentView } from '../projections/agents.ts'
import type { View } from '../src/ports/views.ts'
import { firstPart } from '../src/support/in-parts.ts'
import { wholeOf } from './get-agent.ts'
import { pageBytes } from './opened.ts'
import { fittedPage, type Page, paging, skipTo } from './page.ts'

type Uses = {
  agents: Pick<View<AgentView>, 'get'>
  agentSummaries: Pick<View<AgentSummary>, 'find'>
}

/** With all that they are configured by, a page at a time, in the order of their creation. */
export const listWholeAgents =
  ({ agents, agentSummaries }: Uses) =>
  async (organizationId: string, page: Page) => {
    const { items, total } = await agentSummaries.find({
      index: 'by_organization',
      equals: [organizationId],
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const read = async ({ agent_id }: AgentSummary) => {
      const value = await agents.get(agent_id)
      return { value, bytes: JSON.stringify(value)?.length ?? 0 }
    }
    const fitting = await firstPart(items, read, pageBytes)
    const fitted = fittedPage(page, items.length, fitting.length)
    const agentsOfPage = fitting.slice(0, fitted.pageSize)
    return {
      agents: agentsOfPage.flatMap((view) => (view ? wholeOf(view) : [])),
      ...paging(total, fitted),
    }
  }
export type ListWholeAgents = ReturnType<typeof listWholeAgents>
