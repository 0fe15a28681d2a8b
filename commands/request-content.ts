import { accountStream, decideReserve } from '../src/domain/account/account.ts'
import { contentStream, decideRequest } from '../src/domain/content/content.ts'
import type { ContentEvent } from '../src/domain/content/events.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RequestContent = ContentEvent<'ContentRequested'>['data'] & {
  contentId: string
  sessionId: string
}

/** Holds the credits back, then stores what is to be made. @throws insufficient_credits */
export const requestContent =
  (transact: Transact) =>
  async ({ contentId, ...request }: RequestContent, call: Call) => {
    const hold = { runId: reservationOf(contentId, 0), amount: request.reserved }
    await transact(accountStream(request.payerId), decideReserve(hold), call)
    const stream = contentStream(call.organizationId, contentId)
    const { position } = await transact(stream, decideRequest(request), call)
    return { contentId, position }
  }
export type RequestContentCommand = ReturnType<typeof requestContent>
