import { z } from 'zod'

const decimal = /^-?\d{1,16}$/

/** A whole number in a query string, written in decimal. */
export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} on` : `${min} to ${max}`
  const expected = `A whole number from ${range} is expected`
  return z.preprocess(
    (text) => (typeof text === 'string' && decimal.test(text) ? Number(text) : text),
    z.int(expected).min(min, expected).max(max, expected),
  )
}

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }

/** true or false in a query string. */
export const boolean = z.preprocess(
  (text) => flags[String(text).toLowerCase()] ?? text,
  z.boolean('true or false is expected'),
)

/** A session id, the client's own or ours (decisions, section 3). */
export const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'A session id has 1 to 128 of A-Z a-z 0-9 _ . : -')

/** Clients send null for what they do not set. */
export const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** A path that names a provisioned user; one that nobody could have is nobody's. */
export const provisionedUser = z.object({ user_id: z.string().min(1).max(64) })
