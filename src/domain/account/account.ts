import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import { creditUnit, largestAmount, saturate } from '../amounts.ts'
import { refusal } from '../refusal.ts'
import { type AccountEvent, accountEvents } from './events.ts'
import { heldFor, noReservations, type Reservations, released, reserved } from './reservations.ts'

/** How many ended runs, and grants, an account remembers. */
const mostRemembered = 200

/** Amounts in micro-credits. */
export type Account = {
  balance: number
  /** What open runs hold back. */
  reservations: Reservations
  /** The ids of the last runs that ended; a late second start of one reserves nothing. */
  ended: readonly string[]
  /** The ids of the last grants; the same one again gives nothing. */
  grants: readonly string[]
}

const withLast = (ids: readonly string[], id: string): readonly string[] => [
  ...ids.slice(1 - mostRemembered),
  id,
]

const closed = (
  { balance, reservations, ended: runIds, grants }: Account,
  runId: string,
  charge: number,
): Account => ({
  balance: saturate(balance - charge),
  reservations: released(reservations, runId),
  ended: withLast(runIds, runId),
  grants,
})

/**
 * What a user pays with. A run can only be settled out of its open reservation, and settling closes
 * that reservation: charging twice is impossible however long ago the first charge was. `ended` is
 * needed only so that a repeated start does not reserve anew, and may therefore forget.
 */
export const account: Aggregate<Account, typeof accountEvents> = {
  category: 'account',
  events: accountEvents,
  initial: { balance: 0, reservations: noReservations, ended: [], grants: [] },
  stateVersion: 7,
  evolve: {
    CreditsGranted: (state, { grantId, amount }) => ({
      ...state,
      balance: saturate(state.balance + amount),
      grants: withLast(state.grants, grantId),
    }),
    CreditsReserved: ({ balance, reservations, ended: runIds, grants }, { runId, amount }) => ({
      balance,
      reservations: reserved(reservations, runId, amount),
      ended: runIds,
      grants,
    }),
    CreditsSettled: (state, { runId, amount }) => closed(state, runId, amount),
    ReservationReleased: (state, { runId }) => closed(state, runId, 0),
  },
}

export const accountStream = (userId: string) => platformStreamOf(account, userId)

/** Balance less open reservations, in micro-credits. */
export const effectiveBalance = ({ balance, reservations }: Account): number =>
  balance - reservations.held

const isOpen = ({ reservations }: Account, runId: string): boolean =>
  heldFor(reservations, runId) !== undefined

/** In micro-credits, of either sign: numbers beyond it are no longer exact. */
const largestBalance = 9e15

/** @throws invalid_input for what would lead a balance away beyond the largest */
export const decideGrant =
  ({ grantId, amount, reason }: { grantId: string; amount: number; reason: string }) =>
  (state: Account): AccountEvent<'CreditsGranted'>[] => {
    if (state.grants.includes(grantId)) return []
    const { balance } = state
    const after = Math.abs(balance + amount)
    if (after > largestBalance && after > Math.abs(balance))
      throw refusal('invalid_input', {
        message: 'A balance is within 9,000 million credits',
        field: 'amount',
      })
    return [{ type: 'CreditsGranted', data: { grantId, amount, reason } }]
  }

/**
 * Holds credits back for a run, at most the largest amount. Only a balance that is negative already
 * refuses: a run may overdraw what is left, once. @throws insufficient_credits
 */
export const decideReserve =
  ({ runId, amount }: { runId: string; amount: number }) =>
  (state: Account): AccountEvent<'CreditsReserved'>[] => {
    if (isOpen(state, runId) || state.ended.includes(runId)) return []
    const effective = effectiveBalance(state)
    if (effective < 0)
      throw refusal('insufficient_credits', {
        creditBalance: state.balance / creditUnit,
        effectiveBalance: effective / creditUnit,
        canUseApi: false,
      })
    return [{ type: 'CreditsReserved', data: { runId, amount: Math.min(amount, largestAmount) } }]
  }

/** Charges a run, once; nothing for a run that has no open reservation. */
export const decideSettle =
  ({ runId, amount }: { runId: string; amount: number }) =>
  (state: Account): AccountEvent<'CreditsSettled'>[] =>
    isOpen(state, runId) ? [{ type: 'CreditsSettled', data: { runId, amount } }] : []

/** Gives back what a run held; nothing for a run that has no open reservation. */
export const decideRelease =
  ({ runId, reason }: { runId: string; reason: string }) =>
  (state: Account): AccountEvent<'ReservationReleased'>[] =>
    isOpen(state, runId) ? [{ type: 'ReservationReleased', data: { runId, reason } }] : []
