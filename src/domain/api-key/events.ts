import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const text = z.string()
const requests = z.int().min(1)

/** What an admin may change later. The limits are requests per minute and per hour. */
const settings = z.object({
  name: text,
  description: text,
  scopes: z.array(text),
  rateLimitMinute: requests,
  rateLimitHour: requests,
  expiresAt: text.nullable(),
})

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const apiKeyEvents = {
  /**
   * `hash` is the keyed hash of the key, `last4` all that is ever shown of it again. `userId` is
   * the backing user: pays, and is the actor in the log.
   */
  ApiKeyCreated: settings.extend({
    hash: text,
    last4: text,
    type: z.enum(['organization', 'user']),
    userId: text,
    provisioning: z.boolean(),
  }),
  ApiKeyChanged: settings.partial(),
  ApiKeyRevoked: z.object({}),
  /** Requests since the last such event; written in batches. */
  ApiKeyUsed: z.object({ requests, lastUsedAt: text }),
}

export type ApiKeyEvent<Type extends keyof typeof apiKeyEvents = keyof typeof apiKeyEvents> =
  EventOf<typeof apiKeyEvents, Type>

export type ApiKeySettings = z.infer<typeof settings>
