import { accountStream, decideReserve } from '../src/domain/account/account.ts'
import { contentStream, decideRetry } from '../src/domain/content/content.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import { latest } from '../src/domain/event.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RetryContent = {
  contentId: string
  viewer: Viewer
  /** The key's backing user. */
  payerId: string
}

/**
 * Queues a failed item again. Of two requests at once one wins. Unlike a new item's, its credits are
 * held back after the event: the reservation is named by the attempt, which only the winner knows.
 * If that is refused or a crash comes first, the item is queued all the same; whoever takes it up
 * holds the credits back or fails it (start-content.ts).
 * @throws content_not_found, content_not_failed, max_retries_reached, insufficient_credits
 */
export const retryContent =
  (transact: Transact) =>
  async ({ contentId, viewer, payerId }: RetryContent, call: Call) => {
    const stream = contentStream(call.organizationId, contentId)
    const decide = decideRetry(viewer, payerId)
    const { events, state, position: queued } = await transact(stream, decide, call)
    const { attempt, maxRetries } = events[0].data
    const hold = { runId: reservationOf(contentId, attempt), amount: state.reserved }
    const { position: held } = await transact(accountStream(payerId), decideReserve(hold), call)
    return { attempt, maxRetries, position: latest(queued, held) }
  }
export type RetryContentCommand = ReturnType<typeof retryContent>
