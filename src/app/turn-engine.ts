import { opening } from '../support/disposal.ts'
import { approvalWatch } from './approval-watch.ts'
import { chatPart } from './chat.ts'
import { chatRoutesOf } from './chat-routes.ts'
import { contentPart } from './content.ts'
import { knowledgePart } from './knowledge.ts'
import type { Parts } from './parts.ts'
import { openReceiveParts } from './receive-parts.ts'
import { openTools } from './tools.ts'

/**
 * The parts that do the work of agents: content, knowledge, tools and turns.
 * `expireApprovals` answers when the next approval expires.
 */
export const openTurnEngine = (parts: Parts, expireApprovals: () => Promise<string | undefined>) =>
  opening(async (opened) => {
    const { work, clock, log } = parts.host
    const content = opened.use(contentPart(parts))
    const knowledge = opened.use(await knowledgePart(parts))
    const tools = opened.use(
      await openTools(parts, {
        knowledge: knowledge.search,
        contentGeneration: content.generation,
      }),
    )
    const { receiveParts } = opened.use(await openReceiveParts(parts))
    const approvals = approvalWatch({ expire: expireApprovals, clock, log })
    const watchApproval = approvals.watch
    const chat = opened.use(chatPart(parts, { content, tools, receiveParts, watchApproval }))
    work.queue('uploads', knowledge.queued)
    work.queue('contents', content.queued)
    work.queue('runs', chat.turns.queued)
    const chatRoutes = chatRoutesOf(parts, { chat, content, tools })
    return { content, knowledge, tools, approvals, chat, chatRoutes }
  })

export type TurnEngine = Awaited<ReturnType<typeof openTurnEngine>>
