import type { AgentView } from '../projections/agents.ts'
import type { View } from '../src/ports/views.ts'
import { wholeOf } from './get-agent.ts'
import { type Page, paging, skipTo } from './page.ts'

/** With all that they are configured by, a page at a time, in the order of their creation. */
export const listWholeAgents =
  (agents: View<AgentView>) => async (organizationId: string, page: Page) => {
    const { items, total } = await agents.find({
      index: 'by_organization',
      equals: [organizationId],
      skip: skipTo(page),
      limit: page.pageSize,
    })
    return { agents: items.map(wholeOf), ...paging(total, page) }
  }
export type ListWholeAgents = ReturnType<typeof listWholeAgents>
