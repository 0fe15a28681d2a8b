import { contentStream, decideFinish } from '../src/domain/content/content.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { settleReservation } from './settle-reservation.ts'

export type FinishContent = {
  contentId: string
  attempt: number
  payerId: string
  end: Parameters<typeof decideFinish>[1]
}

/**
 * Ends a generation, once, and settles its credits; a failed one costs nothing. `erased`: its
 * session was erased in the meantime, so its file must be removed.
 */
export const finishContent =
  ({ transact }: { transact: Transact }) =>
  async ({ contentId, attempt, payerId, end }: FinishContent, call: Call) => {
    const stream = contentStream(call.organizationId, contentId)
    const { state } = await transact(stream, decideFinish(attempt, end), call)
    const charge = 'completed' in end ? end.completed.charge : 0
    const settle = { userId: payerId, runId: reservationOf(contentId, attempt), charge }
    const settled = await settleReservation({ transact })(settle, call)
    return { ...settled, erased: state.status === 'erased' }
  }
export type FinishContentCommand = ReturnType<typeof finishContent>
