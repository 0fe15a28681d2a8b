import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

/** A kind of refusal: `route` is the path as routed, without what was in it; `method` may be WS. */
const kind = z.object({
  code: z.string(),
  status: z.int(),
  method: z.string(),
  route: z.string(),
})

const count = z.object({ count: z.int().min(1), from: z.string(), to: z.string() })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const refusalEvents = {
  /** The first of its kind in a minute. `askedFor` is whom the client claimed to act for. */
  AccessRefused: kind.extend({ askedFor: z.string().optional() }),
  /** How many more of that kind there were in that minute; the times of the first and the last. */
  AccessRefusedAgain: kind.extend(count.shape),
  /** Refusals of an organization in a minute that had too many kinds: how many of each code. */
  AccessRefusalsSummarized: count.extend({ codes: z.record(z.string(), z.int().min(1)) }),
}

export type RefusalEvent<Type extends keyof typeof refusalEvents = keyof typeof refusalEvents> =
  EventOf<typeof refusalEvents, Type>
