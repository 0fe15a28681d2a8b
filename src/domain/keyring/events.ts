import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const keyId = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const keyringEvents = {
  UserKeyAdded: z.object({ keyId, expiresAt: z.string().nullable() }),
  /** Revoked, or found expired when another key needed the place. */
  UserKeyDropped: z.object({ keyId }),
}

export type KeyringEvent<Type extends keyof typeof keyringEvents = keyof typeof keyringEvents> =
  EventOf<typeof keyringEvents, Type>
