import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const id = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const connectEvents = {
  /** A page where the user connects what the agent needs; whoever has the token may open it. */
  ConnectLinkCreated: z.object({
    linkId: id,
    tokenHash: z.string(),
    agentId: id,
    returnUrl: z.string(),
    expiresAt: z.string(),
  }),
  /** All that were still valid. */
  ConnectLinksRevoked: z.object({ linkIds: z.array(id) }),
}

export type ConnectEvent<Type extends keyof typeof connectEvents = keyof typeof connectEvents> =
  EventOf<typeof connectEvents, Type>
