import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const id = z.string()

/** Micro-credits: 1 credit = 1,000,000. Whole numbers add up exactly, fractions do not. */
const micro = z.int()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const accountEvents = {
  /** A negative amount takes credits back. */
  CreditsGranted: z.object({ grantId: id, amount: micro, reason: z.string() }),
  /** Held back while a run is under way; still part of the balance. */
  CreditsReserved: z.object({ runId: id, amount: micro.min(0) }),
  /** What the run came to cost, which may be more or less than was reserved. */
  CreditsSettled: z.object({ runId: id, amount: micro.min(0) }),
  /** The run ended, or never began, and costs nothing. */
  ReservationReleased: z.object({ runId: id, reason: z.string() }),
}

export type AccountEvent<Type extends keyof typeof accountEvents = keyof typeof accountEvents> =
  EventOf<typeof accountEvents, Type>
