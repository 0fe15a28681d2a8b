import { z } from 'zod'
import type { CreateApiKey, CreateApiKeyCommand } from '../../../commands/create-api-key.ts'
import { apiKeyView } from '../../../projections/api-keys.ts'
import { defaultLimits, scopes } from '../../domain/api-key/scopes.ts'
import { name, orAbsent, pagingFields } from './fields.ts'

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

/**
 * Settings of a new key; for defaults see docs/contract/authentication.md#scopes and
 * docs/contract/limits.md#rate-limits.
 */
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

/** A body's settings of a new key, in the command's terms. */
export const settingsOf = (body: z.infer<typeof newKey>) =>
  ({
    name: body.name,
    description: body.description ?? '',
    scopes: body.scopes,
    rateLimitMinute: body.rate_limit_minute ?? defaultLimits.minute,
    rateLimitHour: body.rate_limit_hour ?? defaultLimits.hour,
    expiresAt: body.expires_at,
    provisioning: body.provisioning ?? false,
  }) satisfies Partial<CreateApiKey>

/** The only answer that contains the key. */
export const createdKeyAnswer = (
  created: Awaited<ReturnType<CreateApiKeyCommand>>,
): z.infer<typeof createdKey> => ({
  key_id: created.keyId,
  key: created.key,
  user_id: created.userId,
  type: created.type,
  key_hint: `…${created.last4}`,
  name: created.name,
  description: created.description,
  scopes: created.scopes,
  rate_limit_minute: created.rateLimitMinute,
  rate_limit_hour: created.rateLimitHour,
  provisioning: created.provisioning,
  expires_at: created.expiresAt,
  created_at: created.createdAt,
  last_used_at: null,
  request_count: 0,
})
