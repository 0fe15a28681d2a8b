import type { Position } from '../src/domain/event.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { settleReservation } from './settle-reservation.ts'

/**
 * Settles the credits of a paused run that these events cancel, if there is one. `payerId` is the
 * user charged for it.
 */
export const settleClosed =
  ({ transact }: { transact: Transact }) =>
  async (
    events: readonly SessionEvent[],
    payerId: string | undefined,
    call: Call,
  ): Promise<Position[]> => {
    const end = events.find(({ type }) => type === 'RunCancelled')
    if (end?.type !== 'RunCancelled' || payerId === undefined) return []
    const { runId, charge } = end.data
    const { position } = await settleReservation({ transact })(
      { userId: payerId, runId, charge },
      call,
    )
    return [position]
  }
