import { z } from 'zod'

/** A model or a tool at its place in a run; null where the run does not come there. */
const place = z
  .object({
    agent: z.string(),
    asked: z
      .object({
        model: z.string(),
        system: z.string(),
        tools: z.array(z.string()),
        answer: z.string(),
        calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
        answered: z.boolean(),
      })
      .optional(),
    called: z.object({ tool: z.string(), arguments: z.string(), result: z.string() }).optional(),
  })
  .nullable()
export type ReplayedPlace = z.infer<typeof place>

/** What would change in a run with the agents as they are now (docs/contract/admin-api.md#runs). */
export const replayed = z.object({
  run_id: z.string(),
  session_id: z.string(),
  model: z.enum(['recorded', 'live']),
  same: z.int().describe('Places at which nothing would change'),
  steps: z.array(
    z.object({
      at: z.string(),
      change: z.enum(['changed', 'gone', 'new']),
      changed: z.array(z.string()),
      before: place,
      now: place,
    }),
  ),
  answer: z.object({ changed: z.boolean(), before: z.string(), now: z.string() }),
  error: z.string().nullable(),
})
export type Replayed = z.infer<typeof replayed>
