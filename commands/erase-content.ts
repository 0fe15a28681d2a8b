import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { contentStream, decideErase } from '../src/domain/content/content.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type EraseContent = { contentId: string; sessionId: string }

/** Erases an item of an erased session. `hash` names the file that is to be removed, if any. */
export const eraseContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId, sessionId }: EraseContent, call: Call) => {
    const stream = despiteUnreadable(contentStream(call.organizationId, contentId))
    const { state, position } = await transact(stream, decideErase(sessionId), call)
    return { hash: state.hash, position }
  }
export type EraseContentCommand = ReturnType<typeof eraseContent>
