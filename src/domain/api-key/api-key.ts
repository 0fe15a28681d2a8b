import { type Aggregate, streamOf } from '../aggregate.ts'
import { type Change, changed, differing } from '../changes.ts'
import { refusal } from '../refusal.ts'
import { type ApiKeyEvent, type ApiKeySettings, apiKeyEvents } from './events.ts'
import { isKeeperOfOwn, type KeyGiver, requireGrantable } from './who-may.ts'

type Created = ApiKeyEvent<'ApiKeyCreated'>['data']

type LiveKey = {
  status: 'live'
  type: Created['type']
  userId: string
  settings: ApiKeySettings
}

export type ApiKey = { status: 'none' | 'revoked' } | LiveKey

export const apiKey: Aggregate<ApiKey, typeof apiKeyEvents> = {
  category: 'apikey',
  events: apiKeyEvents,
  initial: { status: 'none' },
  stateVersion: 2,
  evolve: {
    ApiKeyCreated: (_, { hash, last4, type, userId, provisioning, ...settings }) => ({
      status: 'live',
      type,
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

/** @throws scope_not_allowed, user_key_required, not_own_user_key */
export const requireCreator = (
  { type, userId, scopes }: Pick<Created, 'type' | 'userId' | 'scopes'>,
  by: KeyGiver,
): void => {
  requireGrantable(by, scopes)
  if (type === 'organization' || isKeeperOfOwn(by, { type, userId })) return
  throw refusal(userId === by.userId ? 'user_key_required' : 'not_own_user_key')
}

/**
 * `at` is now.
 * @throws scope_not_allowed, user_key_required, not_own_user_key, invalid_input for a key that has
 * expired already
 */
export const decideCreate =
  (data: Created, by: KeyGiver, at: string) =>
  ({ status }: ApiKey): ApiKeyEvent<'ApiKeyCreated'>[] => {
    requireCreator(data, by)
    requireFuture(data.expiresAt, at)
    return status === 'none' ? [{ type: 'ApiKeyCreated', data }] : []
  }

/** Who are the owners of the organization. */
type Owners = readonly string[]

/** @throws key_not_found, owner_required */
const requireKeeper = (key: LiveKey, by: KeyGiver, owners: Owners): void => {
  const { type, userId } = key
  if (type === 'user' && !isKeeperOfOwn(by, key)) throw refusal('key_not_found')
  if (type === 'organization' && owners.includes(userId) && !by.asOwner)
    throw refusal('owner_required')
}

/**
 * Only an owner changes what an owner backs, and nobody adds a scope that she may not give.
 * @throws key_not_found, owner_required, scope_not_allowed, invalid_input
 */
export const decideChange =
  (change: Change<ApiKeySettings>, by: KeyGiver, owners: Owners, at: string) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyChanged'>[] => {
    if (state.status !== 'live') throw refusal('key_not_found')
    requireKeeper(state, by, owners)
    const { scopes: before } = state.settings
    requireGrantable(by, change.scopes?.filter((scope) => !before.includes(scope)) ?? [])
    requireFuture(change.expiresAt, at)
    const data = differing(state.settings, change)
    return Object.keys(data).length > 0 ? [{ type: 'ApiKeyChanged', data }] : []
  }

/** Takes back a key that was just made. @throws key_not_found */
export const decideWithdraw = ({ status }: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] => {
  if (status !== 'live') throw refusal('key_not_found')
  return [{ type: 'ApiKeyRevoked', data: {} }]
}

/** @throws key_not_found, owner_required */
export const decideRevoke =
  (by: KeyGiver, owners: Owners) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] => {
    if (state.status === 'live') requireKeeper(state, by, owners)
    return decideWithdraw(state)
  }

/** Revokes a key whose backing user ceases to be a member. */
export const decideEndBacking =
  (userId: string) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] =>
    state.status === 'live' && state.userId === userId ? [{ type: 'ApiKeyRevoked', data: {} }] : []

/** A user revokes own keys; to anyone else they do not exist. @throws key_not_found */
export const decideRevokeOwn =
  (userId: string | null) =>
  (state: ApiKey): ApiKeyEvent<'ApiKeyRevoked'>[] => {
    if (state.status === 'live' && state.userId !== userId) throw refusal('key_not_found')
    return decideWithdraw(state)
  }

/** Requests that were counted; those of a key that was revoked meanwhile are let go. */
export const decideUse =
  (data: ApiKeyEvent<'ApiKeyUsed'>['data']) =>
  ({ status }: ApiKey): ApiKeyEvent<'ApiKeyUsed'>[] =>
    status === 'live' ? [{ type: 'ApiKeyUsed', data }] : []
