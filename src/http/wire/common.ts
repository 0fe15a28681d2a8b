import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'

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

const largestPage = 500
const usualPage = 100

/** How much a page holds where an answer by lines may have any `limit`. @throws invalid_query */
export const pageOf = (limit = usualPage): number => {
  if (limit <= largestPage) return limit
  const expected = `A whole number from 1 to ${largestPage} is expected`
  throw refusal('invalid_query', { fields: { limit: [expected] } })
}

/** A time in a query string, as milliseconds since 1970; a day is its beginning (UTC). */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'An ISO 8601 time is expected')
  .transform((text) => Date.parse(text))

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }

/** true or false in a query string. */
export const boolean = z.preprocess(
  (text) => flags[String(text).toLowerCase()] ?? text,
  z.boolean('true or false is expected'),
)

/** A session id, the client's own or ours (docs/contract/sessions.md#session-ids). */
export const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'A session id has 1 to 128 of A-Z a-z 0-9 _ . : -')

/** Clients send null for what they do not set. */
export const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** A path that names a provisioned user; one that nobody could have is nobody's. */
export const provisionedUser = z.object({ user_id: z.string().min(1).max(64) })
