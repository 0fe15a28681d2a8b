import { contentStream, decideRetry } from '../src/domain/content/content.ts'
import { latest } from '../src/domain/event.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { reserveContentCredits } from './reserve-content-credits.ts'

export type RetryContent = {
  contentId: string
  viewer: Viewer
  /** The key's backing user. */
  payerId: string
}

/**
 * Queues a failed item again. Of two concurrent requests one wins. The credits are reserved after
 * the event, under the number of the attempt, which only the winner knows. After a refusal or a
 * crash the item stays queued, and its worker reserves the credits (reserve-content-credits.ts).
 * @throws content_not_found, content_not_failed, max_retries_reached, insufficient_credits
 */
export const retryContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId, viewer, payerId }: RetryContent, call: Call) => {
    const stream = contentStream(call.organizationId, contentId)
    const decide = decideRetry(viewer, payerId)
    const { events, state, position: queued } = await transact(stream, decide, call)
    const { attempt, maxRetries } = events[0].data
    const reservation = { contentId, attempt, payerId, reserved: state.reserved }
    const { position: reserved } = await reserveContentCredits({ transact })(reservation, call)
    return { attempt, maxRetries, position: latest(queued, reserved) }
  }
export type RetryContentCommand = ReturnType<typeof retryContent>
