import { z } from 'zod'

/** A whole number in a query string. */
export const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

/** true or false in a query string. */
export const boolean = z
  .string()
  .refine((text) => /^(true|false|1|0)$/i.test(text), 'true or false is expected')
  .transform((text) => /^(true|1)$/i.test(text))

/** A session id, the client's own or ours (decisions, section 3). */
export const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'A session id has 1 to 128 of A-Z a-z 0-9 _ . : -')
