import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const consoleSessionEvents = {
  /**
   * A sign-in to the console. `tokenHash` is the keyed hash of the session's token. `keyId` is the
   * key that it acts with; null: the platform's key (`platformKeyHash`), or none, after a sign-in
   * by OpenID Connect.
   */
  ConsoleSessionStarted: z.object({
    tokenHash: z.string(),
    keyId: z.string().nullable(),
    platformKeyHash: z.string().optional(),
    method: z.enum(['api_key', 'openid', 'welcome_link']),
    expiresAt: z.string(),
  }),
  ConsoleSessionsEnded: z.object({
    tokenHashes: z.array(z.string()),
    reason: z.enum(['signed_out', 'signed_out_everywhere', 'expired', 'too_many']),
  }),
}

export type ConsoleSessionEvent<
  Type extends keyof typeof consoleSessionEvents = keyof typeof consoleSessionEvents,
> = EventOf<typeof consoleSessionEvents, Type>
