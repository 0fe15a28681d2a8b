import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { type EmailEvent, emailEvents } from './events.ts'

/** `userId` is the account that the address belongs to. */
export type Email = { userId: string | null }

export const email: Aggregate<Email, typeof emailEvents> = {
  category: 'email',
  events: emailEvents,
  initial: { userId: null },
  evolve: {
    EmailClaimed: (_, { userId }) => ({ userId }),
    EmailReleased: () => ({ userId: null }),
  },
}

/** `hash` is the keyed hash of the address as it is compared. */
export const emailStream = (hash: string) => platformStreamOf(email, hash)

/** The first to claim an address has it; whoever comes later reads the holder off the state. */
export const decideClaim =
  (userId: string) =>
  (state: Email): EmailEvent<'EmailClaimed'>[] =>
    state.userId ? [] : [{ type: 'EmailClaimed', data: { userId } }]

/** Gives up an address that the account no longer has. */
export const decideRelease =
  (userId: string) =>
  (state: Email): EmailEvent<'EmailReleased'>[] =>
    state.userId === userId ? [{ type: 'EmailReleased', data: { userId } }] : []
