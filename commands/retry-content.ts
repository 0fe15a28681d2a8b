import { accountStream, decideReserve } from '../src/domain/account/account.ts'
import { contentStream, decideRetry } from '../src/domain/content/content.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Viewer } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RetryContent = {
  contentId: string
  viewer: Viewer
  /** The key's backing user. */
  payerId: string
}

/**
 * Queues a failed item again. Of two at once one wins; the credits are held back once it has.
 * @throws content_not_found, content_not_failed, max_retries_reached
 */
export const retryContent =
  (transact: Transact) =>
  async ({ contentId, viewer, payerId }: RetryContent, call: Call) => {
    const stream = contentStream(call.organizationId, contentId)
    const decide = decideRetry(viewer, payerId)
    const { events, state, position } = await transact(stream, decide, call)
    const { attempt, maxRetries } = events[0].data
    const hold = { runId: reservationOf(contentId, attempt), amount: state.reserved }
    await transact(accountStream(payerId), decideReserve(hold), call)
    return { attempt, maxRetries, position }
  }
export type RetryContentCommand = ReturnType<typeof retryContent>
