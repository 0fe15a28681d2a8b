import { z } from 'zod'
import type { Tool } from '../agents/tool.ts'
import type { Knowledge } from '../ports/knowledge.ts'
import { success } from './results.ts'
import { typedTool } from './typed-tool.ts'

/** How many passages a model is shown. */
const most = 5

/** Searches the DataStores of the agent that calls it, and no others. */
export const searchKnowledgeTool = (knowledge: Knowledge): Tool =>
  typedTool({
    name: 'search_knowledge',
    description:
      'Searches the documents of the knowledge base. Gives the best passages, each with the file it is from and the place in it.',
    args: z.object({ query: z.string().trim().min(1).max(2_000) }),
    async run({ query }, { agent, turn: { call } }) {
      const { organizationId } = call
      const passages = await knowledge.search(organizationId, agent.datastoreIds, query, most)
      const results = passages.map(({ filename, place, text }) => ({ filename, place, text }))
      return success(JSON.stringify({ results }))
    },
  })
