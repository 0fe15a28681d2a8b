import { z } from 'zod'
import { accountEvents } from '../src/domain/account/events.ts'
import {
  isNone,
  noReservations,
  type Reservations,
  released,
  reserved as reservedIn,
} from '../src/domain/account/reservations.ts'
import { saturate } from '../src/domain/amounts.ts'
import { flag, id, incomplete, micro, text, timestamp } from './fields.ts'
import { platformIdIn, projection } from './projection.ts'

/** Amounts in micro-credits. What may be spent is `balance` less all that is `held`. */
const accountView = z.object({
  user_id: id,
  balance: micro,
  /** What open runs hold back: as a list while they are few, in parts where they are many. */
  open: z
    .union([
      z.object({ held: micro, few: z.array(z.tuple([text, micro]).readonly()).readonly() }),
      z.object({ held: micro, parts: z.record(text, z.record(text, micro)) }),
    ])
    .optional(),
  /** Few of them, by run id, in older documents. */
  reservations: z.record(text, micro).optional(),
  /** Only while something is held back. */
  holding: flag,
  updated_at: timestamp,
  incomplete,
})
export type AccountView = z.infer<typeof accountView>

/** What open runs hold back. */
export const reservationsIn = ({ open, reservations }: AccountView): Reservations => {
  if (open) return open
  let all = noReservations
  for (const runId in reservations) all = reservedIn(all, runId, reservations[runId] ?? 0)
  return all
}

type Account = Pick<AccountView, 'user_id' | 'balance'>

const viewOf = ({ user_id, balance }: Account, open: Reservations, at: string): AccountView =>
  isNone(open)
    ? { user_id, balance, updated_at: at }
    : { user_id, balance, updated_at: at, open, holding: true }

const granted = (view: AccountView, amount: number, at: string): AccountView => ({
  ...view,
  balance: saturate(view.balance + amount),
  updated_at: at,
})

const reserved = (view: AccountView, runId: string, amount: number, at: string): AccountView =>
  viewOf(view, reservedIn(reservationsIn(view), runId, amount), at)

const closed = (view: AccountView, runId: string, charge: number, at: string): AccountView => {
  const { user_id, balance } = view
  const open = released(reservationsIn(view), runId)
  return viewOf({ user_id, balance: saturate(balance - charge) }, open, at)
}

const opened = (id: string, at: string): AccountView =>
  viewOf({ user_id: id, balance: 0 }, noReservations, at)

/** The first event of an account creates its document: no event opens an account. */
export const accounts = projection<AccountView, typeof accountEvents>()({
  name: 'accounts',
  schema: accountView,
  categories: ['account'],
  events: accountEvents,
  indexes: { holding: { equals: ['holding'], totals: false } },
  id: ({ stream }) => platformIdIn(stream),
  creates: {
    CreditsGranted: ({ data, metadata: { at } }, id) => granted(opened(id, at), data.amount, at),
    CreditsReserved: ({ data, metadata: { at } }, id) =>
      reserved(opened(id, at), data.runId, data.amount, at),
  },
  changes: {
    CreditsGranted: (view, { data, metadata }) => granted(view, data.amount, metadata.at),
    CreditsReserved: (view, { data, metadata }) =>
      reserved(view, data.runId, data.amount, metadata.at),
    CreditsSettled: (view, { data, metadata }) =>
      closed(view, data.runId, data.amount, metadata.at),
    ReservationReleased: (view, { data, metadata }) => closed(view, data.runId, 0, metadata.at),
  },
  ignores: {},
})
