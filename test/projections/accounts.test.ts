import t from 'tap'
import { type AccountView, accounts, reservationsIn } from '../../projections/accounts.ts'
import {
  noReservations,
  type Reservations,
  released,
  reserved as reservedIn,
} from '../../src/domain/account/reservations.ts'
import { handlesAll, projecting } from '../support/given.ts'

const later = '2026-01-02T00:00:00.000Z'

t.test('accounts', async (t) => {
  const seen = projecting(t, accounts, 'account-user-1')
  const granted = {
    type: 'CreditsGranted',
    data: { grantId: 'g', amount: 10, reason: 'initial' },
  } as const
  const reserved = { type: 'CreditsReserved', data: { runId: 'run-1', amount: 4 } } as const
  seen(granted, reserved).shows({
    user_id: 'user-1',
    balance: 10,
    open: { held: 4, few: [['run-1', 4]] },
    reservations: undefined,
    holding: true,
  })
  seen(granted, reserved, {
    type: 'CreditsSettled',
    data: { runId: 'run-1', amount: 3 },
    at: later,
  }).shows({ balance: 7, open: undefined, holding: undefined, updated_at: later })
  seen(reserved, { type: 'ReservationReleased', data: { runId: 'run-1', reason: 'free' } }).shows({
    balance: 0,
    open: undefined,
  })
})

t.test('a balance stays within exact numbers', async (t) => {
  const seen = projecting(t, accounts, 'account-user-1')
  const most = Number.MAX_SAFE_INTEGER
  const granted = (amount: number, grantId: string) =>
    ({ type: 'CreditsGranted', data: { grantId, amount, reason: 'initial' } }) as const
  const reserved = { type: 'CreditsReserved', data: { runId: 'run-1', amount: most } } as const
  const settled = { type: 'CreditsSettled', data: { runId: 'run-1', amount: most } } as const
  seen(granted(most, 'g'), granted(most, 'h')).shows({ balance: most })
  seen(granted(-most, 'g'), reserved, settled).shows({ balance: -most })
})

const settling = (before: AccountView, runId: string): AccountView | undefined => {
  const event = { type: 'CreditsSettled', data: { runId, amount: 3 }, metadata: { at: later } }
  return accounts.changes?.CreditsSettled?.(before, event as never, 'user-1')
}

t.test(
  'many open runs are in parts, and in older documents few ones are not in a list',
  async (t) => {
    const runs = Array.from({ length: 100 }, (_, n) => `run-${n}`)
    const many = runs.reduce<Reservations>((all, id) => reservedIn(all, id, 2), noReservations)
    const two = runs.slice(2).reduce<Reservations>((all, id) => released(all, id), many)
    if ('few' in many || 'few' in two) return t.fail('they are not in parts')
    const account = { user_id: 'user-1', balance: 10, holding: true, updated_at: later } as const
    const few = { ...account, reservations: { 'run-0': 2, 'run-1': 2 } }
    const oneLeft = { held: 2, few: [['run-0', 2]] }
    t.match(settling(few, 'run-1'), {
      balance: 7,
      open: oneLeft,
      reservations: undefined,
      holding: true,
    })
    for (const open of [many, two]) {
      const after = settling({ ...account, open }, 'run-1')
      t.match(after, { balance: 7, open: { held: open.held - 2 }, holding: true })
      t.equal(after && reservationsIn(after).held, open.held - 2)
      t.match(settling({ ...account, open }, 'another'), { balance: 7, open, holding: true })
    }
    const none = { ...account, open: { held: 0, parts: {} } }
    t.equal(reservationsIn(none).held, 0)
    t.strictSame(settling(none, 'run-1'), { user_id: 'user-1', balance: 7, updated_at: later })
  },
)

t.test('every event it handles was given', async (t) => handlesAll(t, accounts))
