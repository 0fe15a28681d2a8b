import type { CreateApiKey } from '../../commands/create-api-key.ts'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { grantableScopes, type KeyGiver, platformGiver } from '../../src/domain/api-key/who-may.ts'

/** A person who asks with a whole user key. */
export const giver = (userId: string, role: 'OWNER' | 'ADMIN' | 'MEMBER'): KeyGiver => ({
  userId,
  platform: false,
  inPerson: true,
  asOwner: role === 'OWNER',
  grantable: grantableScopes(role, new Set(scopes), true),
})

/** What is asked of a new key that is like most, by the platform. */
export const apiKeySettings = {
  type: 'organization',
  name: 'Key',
  description: '',
  rateLimitMinute: 100,
  rateLimitHour: 1_000,
  expiresAt: null,
  provisioning: false,
  by: platformGiver,
} as const satisfies CreateApiKey
