import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type KeyringEvent, keyringEvents } from './events.ts'

/** User keys per user (docs/contract/limits.md#sizes). */
export const userKeyLimit = 5

/** A user's user keys. One stream per user, so concurrent requests cannot exceed five keys. */
export type Keyring = { keys: readonly KeyringEvent<'UserKeyAdded'>['data'][] }

export const keyring: Aggregate<Keyring, typeof keyringEvents> = {
  category: 'keyring',
  events: keyringEvents,
  initial: { keys: [] },
  evolve: {
    UserKeyAdded: ({ keys }, key) => ({ keys: [...keys, key] }),
    UserKeyDropped: ({ keys }, { keyId }) => ({ keys: keys.filter((key) => key.keyId !== keyId) }),
  },
}

export const keyringStream = (userId: string) => platformStreamOf(keyring, userId)

/** Expired keys make room. @throws key_limit_reached */
export const decideAddKey =
  (key: KeyringEvent<'UserKeyAdded'>['data'], at: string) =>
  ({ keys }: Keyring): KeyringEvent[] => {
    if (keys.some(({ keyId }) => keyId === key.keyId)) return []
    const expired = keys.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= at)
    if (keys.length - expired.length >= userKeyLimit) throw refusal('key_limit_reached')
    return [
      ...expired.map(({ keyId }) => ({ type: 'UserKeyDropped', data: { keyId } }) as const),
      { type: 'UserKeyAdded', data: key },
    ]
  }

export const decideDropKey =
  (keyId: string) =>
  ({ keys }: Keyring): KeyringEvent<'UserKeyDropped'>[] =>
    keys.some((key) => key.keyId === keyId) ? [{ type: 'UserKeyDropped', data: { keyId } }] : []
