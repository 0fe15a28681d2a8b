import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

/** `route` is the path pattern; for a response only its run is known. */
const kind = z.object({
  route: z.string(),
  sessionId: z.string().optional(),
  runId: z.string().optional(),
})

const count = z.object({ count: z.int().min(1), from: z.string(), to: z.string() })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const messageReadEvents = {
  /** Somebody read what a user had said, for that user. The first of its kind in a minute. */
  MessagesRead: kind,
  /** How many more of that kind there were in that minute; the times of the first and the last. */
  MessagesReadAgain: kind.extend(count.shape),
  /** Reads of an organization in a minute that had too many kinds: how many at each route. */
  MessageReadsSummarized: count.extend({ routes: z.record(z.string(), z.int().min(1)) }),
}

export type MessageReadEvent<
  Type extends keyof typeof messageReadEvents = keyof typeof messageReadEvents,
> = EventOf<typeof messageReadEvents, Type>
