import { accountStream, decideReserve } from '../src/domain/account/account.ts'
import { contentStream, decideStart, decideSubmit } from '../src/domain/content/content.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** A generation under way. */
export type Taken = {
  attempt: number
  payerId: string
  /** Null until the provider has taken it. */
  predictionId: string | null
  /** In micro-credits. */
  reserved: number
}

/** Takes up a generation that waits, and notes what its provider calls it. */
export const startContent = (transact: Transact) => ({
  /** What is to be made, now or still; undefined: it is over. */
  async take(contentId: string, call: Call): Promise<Taken | undefined> {
    const stream = contentStream(call.organizationId, contentId)
    const { state } = await transact(stream, decideStart, call)
    return state.status === 'processing' ? state : undefined
  },
  /** Holds its credits back unless they are held already. @throws insufficient_credits */
  async hold(contentId: string, { attempt, payerId, reserved }: Taken, call: Call): Promise<void> {
    const hold = { runId: reservationOf(contentId, attempt), amount: reserved }
    await transact(accountStream(payerId), decideReserve(hold), call)
  },
  async submitted(contentId: string, predictionId: string, call: Call): Promise<void> {
    const stream = contentStream(call.organizationId, contentId)
    await transact(stream, decideSubmit(predictionId), call)
  },
})
export type StartContentCommand = ReturnType<typeof startContent>
