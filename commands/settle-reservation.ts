import { accountStream, decideRelease, decideSettle } from '../src/domain/account/account.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** `charge` in micro-credits; 0: the run never began, or costs nothing. */
export type SettleReservation = { userId: string; runId: string; charge: number }

/** Closes a reservation that its run left open. */
export const settleReservation =
  (transact: Transact) =>
  async ({ userId, runId, charge }: SettleReservation, call: Call) => {
    const account = accountStream(userId)
    const { position } =
      charge > 0
        ? await transact(account, decideSettle({ runId, amount: charge }), call)
        : await transact(account, decideRelease({ runId, reason: 'orphaned' }), call)
    return { position }
  }
export type SettleReservationCommand = ReturnType<typeof settleReservation>
