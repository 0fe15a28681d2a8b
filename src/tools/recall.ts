import { z } from 'zod'
import type { RecallMemories } from '../../queries/recall-memories.ts'
import type { Tool } from '../agents/tool.ts'
import { actingUser } from '../ports/call.ts'
import { success } from './results.ts'
import { typedTool } from './typed-tool.ts'

/** How many memories a model is shown. */
const most = 20

/** Memories of the turn's user in the turn's organization. */
export const recallTool = (recallMemories: RecallMemories): Tool =>
  typedTool({
    name: 'recall',
    description: 'Finds what is remembered of the user from earlier conversations.',
    args: z.object({ query: z.string().max(2_000).default('') }),
    async run({ query }, { turn: { call } }) {
      const { organizationId } = call
      const userId = actingUser(call)
      const memories =
        userId === null ? [] : await recallMemories({ organizationId, userId, query, limit: most })
      return success(JSON.stringify({ memories }))
    },
  })
