import type { CreateApiKey } from '../../commands/create-api-key.ts'

/** What an admin asks of a new key that is like most. */
export const apiKeySettings = {
  type: 'organization',
  name: 'Key',
  description: '',
  rateLimitMinute: 100,
  rateLimitHour: 1_000,
  expiresAt: null,
  provisioning: false,
  by: { asOwner: false, asManager: true, platform: false },
} as const satisfies CreateApiKey
