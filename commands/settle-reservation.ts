import { accountStream, decideRelease, decideSettle } from '../src/domain/account/account.ts'
import type { Position } from '../src/domain/event.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** `charge` in micro-credits; 0: the run never began, or costs nothing. */
export type SettleReservation = { userId: string; runId: string; charge: number }

/** Closes a reservation that its run left open. */
export const settleReservation =
  ({ transact }: { transact: Transact }) =>
  ({ userId, runId, charge }: SettleReservation, call: Call): Promise<{ position: Position }> => {
    const account = accountStream(userId)
    return charge > 0
      ? transact(account, decideSettle({ runId, amount: charge }), call)
      : transact(account, decideRelease({ runId, reason: 'orphaned' }), call)
  }
export type SettleReservationCommand = ReturnType<typeof settleReservation>
