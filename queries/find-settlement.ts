import { accountEvents } from '../src/domain/account/events.ts'
import type { Position } from '../src/domain/event.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import { fieldOf } from './event-field.ts'
import type { ReadHistory } from './read-history.ts'

/** How many events are searched: a settlement is stored with the end of its run, or soon after. */
const scanned = 5_000

/** What is left of the events that one answer may search. */
export type SearchBudget = { left: number }

/** The event that settled a reservation, and the amount in micro-credits; 0: it was released. */
export type Settlement = { event: RecordedEvent; amount: number }

const settlementIn = (event: RecordedEvent): Settlement | undefined => {
  if (event.type === 'ReservationReleased') return { event, amount: 0 }
  if (event.type !== 'CreditsSettled') return undefined
  const { success, data } = accountEvents.CreditsSettled.safeParse(event.data)
  return success ? { event, amount: data.amount } : undefined
}

type Reservation = { organizationId: string; id: string; after: Position }

/**
 * How a reservation was settled, among an organization's next events after a position; undefined:
 * it is open, or was settled later.
 */
export const findSettlement =
  ({ readHistory }: { readHistory: ReadHistory }) =>
  async (
    { organizationId, id, after }: Reservation,
    budget: SearchBudget,
  ): Promise<Settlement | undefined> => {
    const end = budget.left - Math.min(scanned, budget.left)
    for await (const { events, looked } of readHistory({ organizationId, after })) {
      for (const event of events) {
        const settlement = fieldOf(event, 'runId') === id ? settlementIn(event) : undefined
        if (settlement) return settlement
      }
      budget.left -= looked
      if (budget.left <= end) return undefined
    }
    return undefined
  }
export type FindSettlement = ReturnType<typeof findSettlement>
