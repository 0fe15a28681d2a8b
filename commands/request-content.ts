import { contentStream, decideRequest } from '../src/domain/content/content.ts'
import type { ContentEvent } from '../src/domain/content/events.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { reserveContentCredits } from './reserve-content-credits.ts'

export type RequestContent = ContentEvent<'ContentRequested'>['data'] & {
  contentId: string
  sessionId: string
}

/** Reserves the credits, then stores the request. @throws insufficient_credits */
export const requestContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId, ...request }: RequestContent, call: Call) => {
    const { payerId, reserved } = request
    await reserveContentCredits({ transact })({ contentId, attempt: 0, payerId, reserved }, call)
    const stream = contentStream(call.organizationId, contentId)
    const { position } = await transact(stream, decideRequest(request), call)
    return { contentId, position }
  }
export type RequestContentCommand = ReturnType<typeof requestContent>
