import { z } from 'zod'

/**
 * Credits per million tokens, which are micro-credits per token. `list` is its price list:
 * `LLM_PRICES`, the built-in one, or the default of models in neither. Older events have none.
 */
export const price = z.object({
  prompt: z.number(),
  completion: z.number(),
  list: z.enum(['configured', 'built_in', 'default']).optional(),
})
export type Price = z.infer<typeof price>
