import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const identityEvents = {
  /** The stream is named by the keyed hash of provider and subject: an identity has one account. */
  IdentityClaimed: z.object({ userId: z.string() }),
}

export type IdentityEvent<Type extends keyof typeof identityEvents = keyof typeof identityEvents> =
  EventOf<typeof identityEvents, Type>
