import { z } from 'zod'
import { position } from '../../domain/event.ts'
import { planIds } from '../../domain/plan.ts'
import { refusal } from '../../domain/refusal.ts'
import { START } from '../../ports/event-store.ts'
import { within } from '../../support/bounded-schema.ts'
import { longestId } from '../../support/ids.ts'
import { freeJson as freeBounds } from '../../support/json-bounds.ts'

export const id = z.uuid()
export const name = z.string().trim().min(1).max(200)
export const role = z.enum(['OWNER', 'ADMIN', 'MEMBER'])
export const plan = z.enum(planIds).nullable()

/** A model as a client names it: each chunk of an answer repeats it. */
export const modelName = z.string().max(1_024)

/** Floating-point error is below this: 0.1 + 0.2 has six decimals too. */
const noise = 1e-9

const hasSixDecimals = (amount: number): boolean => {
  const rounded = Number(amount.toFixed(6))
  return amount === rounded || (rounded !== 0 && Math.abs(amount - rounded) < noise)
}

/** Credits on the wire have up to six decimals; more are refused. */
export const credits = (min: number, max: number) =>
  z.number().min(min).max(max).refine(hasSixDecimals, 'Up to six decimals')

/** An id of ours in a body. */
export const givenId = z.string().min(1).max(longestId)

const sessionForm = /^[A-Za-z0-9_.:-]{1,128}$/

/** A session id, the client's own or ours (docs/contract/sessions.md#session-ids). */
export const sessionId = z
  .string()
  .regex(sessionForm, 'A session id has 1 to 128 of A-Z a-z 0-9 _ . : -')

/** Nothing has this id: it is what is asked for where a path has one of impossible form. */
const unknownId = '?'

const idLike = (form: RegExp) =>
  z.string().transform((text) => (form.test(text) ? text : unknownId))

/**
 * Ids and names in paths. One of impossible form is not refused here: nothing is found by it
 * (docs/contract/requests.md#bodies).
 */
export const pathId = idLike(/^.{1,64}$/s)
export const pathSessionId = idLike(sessionForm)
export const pathName = idLike(/^.{1,1024}$/s)

/** A path that names a provisioned user. */
export const provisionedUser = z.object({ user_id: pathId })

const word = String.raw`[^\s@"(),:;<>[\]\\\p{C}.]+`
const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?`

/**
 * RFC 5321 without quotes and address literals, of any script, at a host with a dot in its name.
 */
const address = new RegExp(
  String.raw`^(?=.{1,64}@)${word}(?:\.${word})*@(?:${label}\.)+(?!\d+$)${label}$`,
  'u',
)

/** NFC in lower case, as it is stored and shown (src/security/email-address.ts). */
export const email = z
  .string()
  .trim()
  .normalize()
  .toLowerCase()
  .normalize()
  .pipe(z.email({ pattern: address, error: 'not an email address' }).max(254))

/** A field whose null counts as absent: clients send null for what they do not set. */
export const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/**
 * JSON whose form the client chooses: refused as `too_complex` beyond
 * docs/contract/limits.md#sizes.
 */
export const freeJson = <Schema extends z.ZodType>(schema: Schema) => within(freeBounds, schema)

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

/** A place in the log that a client names; it need not be an event's. */
export const logPosition = integer(START).pipe(position)

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }

/** true or false in a query string. */
export const boolean = z.preprocess(
  (text) => flags[String(text).toLowerCase()] ?? text,
  z.boolean('true or false is expected'),
)

/** A time in a query string, as milliseconds since 1970; a day stands for its beginning (UTC). */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'An ISO 8601 time is expected')
  .transform((text) => Date.parse(text))

/** The number of a page; one beyond the end is empty. */
export const page = integer(1).default(1)

export const pageQuery = z.object({
  page,
  page_size: integer(1, 200).default(50),
})

export const pagingFields = {
  total: z.int(),
  page: z.int(),
  page_size: z.int(),
  has_next: z.boolean(),
}

const largestPage = 500
const usualPage = 100

/**
 * The size of a page, on routes whose `limit` is bounded only when the answer is one page; an
 * answer in lines may be of any length. @throws invalid_query
 */
export const pageSizeOf = (limit = usualPage): number => {
  if (limit <= largestPage) return limit
  const expected = `A whole number from 1 to ${largestPage} is expected`
  throw refusal('invalid_query', { fields: { limit: [expected] } })
}
