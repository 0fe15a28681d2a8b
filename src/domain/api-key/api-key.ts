import { type Aggregate, streamOf } from '../aggregate.ts'
import { type Change, changed, differing } from '../changes.ts'
import { refusal } from '../refusal.ts'
import { type ApiKeyEvent, type ApiKeySettings, apiKeyEvents } from './events.ts'
import { isOptIn } from './scopes.ts'

type Created = ApiKeyEvent<'ApiKeyCreated'>['data']

export type ApiKey =
  | { status: 'none' | 'revoked' }
  | { status: 'live'; userId: string; settings: ApiKeySettings }

export const apiKey: Aggregate<ApiKey, typeof apiKeyEvents> = {
  category: 'apikey',
  events: apiKeyEvents,
  initial: { status: 'none' },
  evolve: {
    ApiKeyCreated: (_, { hash, last4, type, userId, provisioning, ...settings }) => ({
      status: 'live',
      userId,
      settings,
    }),
    ApiKeyChanged: (state, change) =>
      state.status === 'live' ? { ...state, settings: changed(state.settings, change) } : state,
    ApiKeyRevoked: () => ({ status: 'revoked' }),
    ApiKeyUsed: (state) => state,
  },
}

/** An organization key is in its organization. */
export const organizationKeyStream = (organizationId: string, keyId: string) =>
  streamOf(apiKey, organizationId, keyId)

/** A user key works across organizations and is in none: `apikey-user_<key id>`. */
export const userKeyStream = (keyId: string) => streamOf(apiKey, 'user', keyId)

const requireFuture = (expiresAt: string | null | undefined, at: string): void => {
  if (expiresAt && expiresAt <= at)
    throw refusal('invalid_input', { field: 'expiresAt', fault: 'is in the past' })
}

/** Who creates a key. */
export type Creator = {
  userId: string | null
  /** Owners, admins and the platform give the scopes that are in no default set. */
  asManager: boolean
  platform: boolean
}

/**
 * A user key reaches all organizations of its user, so only that user or the platform makes one.
 * @throws scope_not_allowed, not_own_user_key
 */
export const requireCreator = (
  { type, userId, scopes }: Pick<Created, 'type' | 'userId' | 'scopes'>,
  by: Creator,
): void => {
  const refused = by.asManager ? [] : scopes.filter(isOptIn)
  if (refused.length > 0) throw refusal('scope_not_allowed', { scopes: refused })
  if (type === 'user' && userId !== by.userId && !by.platform) throw refusal('not_own_user_key')
}

/**
 * `at` is now.
 * @throws scope_not_allowed, not_own_user_key, invalid_input for a key that has expired already
 */
export const decideCreate =
  (data: Created, by: Creator, at: string) =>
  ({ status }: ApiKey): ApiKeyEvent<'ApiKeyCreated'>[] => {
    requireCreator(data, by)
    requireFuture(data.expiresAt, at)
    return status === 'none' ? [{ type: 'ApiKeyCreated', data }] : []
  }

/** @throws key_not_found, invalid_input */
export const decideChange =
  (change: Change<ApiKeySettings>, at: string) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyChanged'>[] => {
    if (state.status !== 'live') throw refusal('key_not_found')
    requireFuture(change.expiresAt, at)
    const data = differing(state.settings, change)
    return Object.keys(data).length > 0 ? [{ type: 'ApiKeyChanged', data }] : []
  }

/** @throws key_not_found */
export const decideRevoke = ({ status }: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] => {
  if (status !== 'live') throw refusal('key_not_found')
  return [{ type: 'ApiKeyRevoked', data: {} }]
}

/** A user revokes own keys; to anyone else they do not exist. @throws key_not_found */
export const decideRevokeOwn =
  (userId: string | null) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] => {
    if (state.status === 'live' && state.userId !== userId) throw refusal('key_not_found')
    return decideRevoke(state)
  }

/** Requests that were counted; those of a key that was revoked meanwhile are let go. */
export const decideUse =
  (data: ApiKeyEvent<'ApiKeyUsed'>['data']) =>
  ({ status }: ApiKey): ApiKeyEvent<'ApiKeyUsed'>[] =>
    status === 'live' ? [{ type: 'ApiKeyUsed', data }] : []
