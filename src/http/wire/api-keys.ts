import type { z } from 'zod'
import type { CreateApiKey, CreateApiKeyCommand } from '../../../commands/create-api-key.ts'
import type { createdKey, newKey } from './admin.ts'

/** What a body says of a new key, as the command takes it. */
export const settingsOf = (body: z.infer<typeof newKey>) =>
  ({
    name: body.name,
    description: body.description ?? '',
    scopes: body.scopes,
    rateLimitMinute: body.rate_limit_minute ?? 100,
    rateLimitHour: body.rate_limit_hour ?? 1_000,
    expiresAt: body.expires_at,
    provisioning: body.provisioning ?? false,
  }) satisfies Partial<CreateApiKey>

/** The one answer that has the key in it. */
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
