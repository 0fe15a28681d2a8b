import t from 'tap'
import { accounts } from '../../projections/accounts.ts'
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
    reservations: { 'run-1': 4 },
    holding: true,
  })
  seen(granted, reserved, {
    type: 'CreditsSettled',
    data: { runId: 'run-1', amount: 3 },
    at: later,
  }).shows({ balance: 7, reservations: {}, holding: undefined, updated_at: later })
  seen(reserved, { type: 'ReservationReleased', data: { runId: 'run-1', reason: 'free' } }).shows({
    balance: 0,
    reservations: {},
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, accounts))
