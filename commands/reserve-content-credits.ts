import { accountStream, decideReserve } from '../src/domain/account/account.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ReserveContentCredits = {
  contentId: string
  attempt: number
  payerId: string
  /** In micro-credits. */
  reserved: number
}

/** Reserves the credits of a generation unless they are reserved. @throws insufficient_credits */
export const reserveContentCredits =
  ({ transact }: { transact: Transact }) =>
  ({ contentId, attempt, payerId, reserved }: ReserveContentCredits, call: Call) => {
    const reservation = { runId: reservationOf(contentId, attempt), amount: reserved }
    return transact(accountStream(payerId), decideReserve(reservation), call)
  }
export type ReserveContentCreditsCommand = ReturnType<typeof reserveContentCredits>
