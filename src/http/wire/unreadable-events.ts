import { z } from 'zod'

/** A stored event that was set aside, as it cannot be read. */
export const unreadableEvent = z.object({
  position: z.int(),
  stream: z.string(),
  revision: z.int(),
  type: z.string(),
  reason: z.string().describe('Where it violates its schema, without its data'),
})
