import { z } from 'zod'
import { apiKeyView } from '../../../projections/api-keys.ts'
import { scopes } from '../../domain/api-key/scopes.ts'
import { planIds } from '../../domain/plan.ts'
import { integer, orAbsent } from './common.ts'

export const id = z.uuid()
export const name = z.string().trim().min(1).max(200)
export const role = z.enum(['OWNER', 'ADMIN', 'MEMBER'])
export const plan = z.enum(planIds).nullable()

/** Longer than any id there is: a path may name what nobody could have, and it is not found. */
export const pathId = z.string().min(1).max(64)

const word = String.raw`[^\s@"(),:;<>[\]\\\p{C}.]+`
const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?`

/** RFC 5321 without quotes and address literals, of any script, at a host with a dot in its name. */
const address = new RegExp(
  String.raw`^(?=.{1,64}@)${word}(?:\.${word})*@(?:${label}\.)+(?!\d+$)${label}$`,
  'u',
)

/** Lowercase, as it is stored and compared. */
export const email = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email({ pattern: address, error: 'not an email address' }).max(254))

/** Credits on the wire have up to six decimals. */
export const credits = z.number().min(-1e9).max(1e9)

export const pageQuery = z.object({
  page: integer(1, 1_000_000).default(1),
  page_size: integer(1, 200).default(50),
})

export const pagingFields = {
  total: z.int(),
  page: z.int(),
  page_size: z.int(),
  has_next: z.boolean(),
}

const keySettings = {
  name,
  description: z.string().max(1_000),
  scopes: z.array(z.enum(scopes)).max(scopes.length),
  rate_limit_minute: z.int().min(1).max(1_000),
  rate_limit_hour: z.int().min(1).max(100_000),
  expires_at: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text).toISOString())
    .nullable(),
}

/** What is said of a new key; the rest is as docs/contract/requests.md#scopes and docs/contract/limits.md#rate-limits say. */
export const newKey = z.object({
  name: keySettings.name,
  description: orAbsent(keySettings.description),
  scopes: orAbsent(keySettings.scopes),
  rate_limit_minute: orAbsent(keySettings.rate_limit_minute),
  rate_limit_hour: orAbsent(keySettings.rate_limit_hour),
  expires_at: keySettings.expires_at.default(null),
  provisioning: orAbsent(z.boolean()),
})

export const keyChange = z.object(keySettings).partial()

/** A key as lists show it. */
export const keyItem = apiKeyView.omit({ organization_id: true, hash: true })

export const keyList = z.object({ api_keys: z.array(keyItem), ...pagingFields })

export const createdKey = keyItem.extend({ key: z.string().describe('Shown this once') })
