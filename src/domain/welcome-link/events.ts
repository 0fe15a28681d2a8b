import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const id = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const welcomeLinkEvents = {
  /** A link that signs in to the console once. The stream is named by the hash of its token. */
  WelcomeLinkCreated: z.object({
    organizationId: id,
    userId: id,
    keyId: id,
    expiresAt: z.string(),
  }),
  WelcomeLinkUsed: z.object({}),
}

export type WelcomeLinkEvent<
  Type extends keyof typeof welcomeLinkEvents = keyof typeof welcomeLinkEvents,
> = EventOf<typeof welcomeLinkEvents, Type>
