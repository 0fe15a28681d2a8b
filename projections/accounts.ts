import { z } from 'zod'
import { accountEvents } from '../src/domain/account/events.ts'
import { flag, id, micro, text, timestamp } from './fields.ts'
import { type Projection, platformIdIn } from './projection.ts'

/** Amounts in micro-credits. What may be spent is `balance` less all of `reservations`. */
const accountView = z.object({
  user_id: id,
  balance: micro,
  /** What open runs hold back, by run id. */
  reservations: z.record(text, micro),
  /** Only while something is held back. */
  holding: flag,
  updated_at: timestamp,
})
export type AccountView = z.infer<typeof accountView>

const opened = (id: string, at: string): AccountView => ({
  user_id: id,
  balance: 0,
  reservations: {},
  updated_at: at,
})

const granted = (view: AccountView, amount: number, at: string): AccountView => ({
  ...view,
  balance: view.balance + amount,
  updated_at: at,
})

const reserved = (view: AccountView, runId: string, amount: number, at: string): AccountView => ({
  ...view,
  reservations: { ...view.reservations, [runId]: amount },
  holding: true,
  updated_at: at,
})

const closed = (
  { holding: _, ...view }: AccountView,
  runId: string,
  charge: number,
  at: string,
): AccountView => {
  const { [runId]: __, ...reservations } = view.reservations
  const left = Object.keys(reservations).length
  return {
    ...view,
    balance: view.balance - charge,
    reservations,
    ...(left > 0 ? { holding: true } : {}),
    updated_at: at,
  }
}

/** The first event of an account creates its document: no event opens an account. */
export const accounts: Projection<AccountView, typeof accountEvents> = {
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
}
