import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const emailEvents = {
  /** The stream is named by the keyed hash of the address: two users cannot both be its first. */
  EmailClaimed: z.object({ userId: z.string() }),
  /** The account has another address now. */
  EmailReleased: z.object({ userId: z.string() }),
}

export type EmailEvent<Type extends keyof typeof emailEvents = keyof typeof emailEvents> = EventOf<
  typeof emailEvents,
  Type
>
