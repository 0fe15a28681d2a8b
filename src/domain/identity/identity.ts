import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { type IdentityEvent, identityEvents } from './events.ts'

/** `userId` is the account that signs in with the identity. */
export type Identity = { userId: string | null }

export const identity: Aggregate<Identity, typeof identityEvents> = {
  category: 'identity',
  events: identityEvents,
  initial: { userId: null },
  evolve: { IdentityClaimed: (_, { userId }) => ({ userId }) },
}

/** `hash` is the keyed hash of provider and subject. */
export const identityStream = (hash: string) => platformStreamOf(identity, hash)

/** The first account to claim an identity has it, whatever address it comes with later. */
export const decideClaimIdentity =
  (userId: string) =>
  (state: Identity): IdentityEvent[] =>
    state.userId ? [] : [{ type: 'IdentityClaimed', data: { userId } }]
