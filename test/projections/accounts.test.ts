import t from 'tap'
import { accounts, reservationsIn } from '../../projections/accounts.ts'
import { noReservations, reserved as reservedIn } from '../../src/domain/account/reservations.ts'
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
    open: reservedIn(noReservations, 'run-1', 4),
    holding: true,
  })
  seen(granted, reserved, {
    type: 'CreditsSettled',
    data: { runId: 'run-1', amount: 3 },
    at: later,
  }).shows({ balance: 7, open: noReservations, holding: undefined, updated_at: later })
  seen(reserved, { type: 'ReservationReleased', data: { runId: 'run-1', reason: 'free' } }).shows({
    balance: 0,
    open: noReservations,
  })
})

t.test('a document from before reservations were in parts', async (t) => {
  const before = {
    user_id: 'user-1',
    balance: 10,
    reservations: { 'run-1': 4, 'run-2': 1 },
    holding: true as const,
    updated_at: later,
  }
  t.equal(reservationsIn(before).held, 5)
  const settled = { runId: 'run-1', amount: 3 }
  const event = { type: 'CreditsSettled', data: settled, metadata: { at: later } } as never
  const after = accounts.changes?.CreditsSettled?.(before, event, 'user-1')
  t.match(after, {
    balance: 7,
    open: reservedIn(noReservations, 'run-2', 1),
    reservations: undefined,
    holding: true,
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, accounts))
