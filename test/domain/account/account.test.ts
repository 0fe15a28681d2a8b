import t from 'tap'
import {
  account,
  decideGrant,
  decideRelease,
  decideReserve,
  decideSettle,
  effectiveBalance,
} from '../../../src/domain/account/account.ts'
import type { AccountEvent } from '../../../src/domain/account/events.ts'
import { noReservations } from '../../../src/domain/account/reservations.ts'
import { evolved } from '../../../src/domain/aggregate.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { deciding } from '../../support/given.ts'

const granted = (amount: number, grantId = 'grant-1'): AccountEvent => ({
  type: 'CreditsGranted',
  data: { grantId, amount, reason: 'initial' },
})
const reserved = (runId: string, amount: number): AccountEvent => ({
  type: 'CreditsReserved',
  data: { runId, amount },
})
const settled = (runId: string, amount: number): AccountEvent => ({
  type: 'CreditsSettled',
  data: { runId, amount },
})
const released: AccountEvent = {
  type: 'ReservationReleased',
  data: { runId: 'run-1', reason: 'cancelled' },
}

t.test('granting credits', async (t) => {
  const given = deciding(t, account)
  const grant = { grantId: 'grant-1', amount: 5, reason: 'initial' }
  given().when(decideGrant(grant)).emitsOnce(granted(5))
  given(granted(5)).when(decideGrant(grant)).changesNothing()
  given(granted(5))
    .when(decideGrant({ grantId: 'grant-2', amount: -9, reason: 'initial' }))
    .emitsOnce(granted(-9, 'grant-2'))
})

t.test('a balance stays within exact numbers', async (t) => {
  const given = deciding(t, account)
  const most = 9e15
  const by = (amount: number) => decideGrant({ grantId: 'grant-2', amount, reason: 'initial' })
  given(granted(most)).when(by(1)).refuses('invalid_input')
  given(granted(-most)).when(by(-1)).refuses('invalid_input')
  given(granted(most - 1))
    .when(by(1))
    .emitsOnce(granted(1, 'grant-2'))
  given(granted(most + 10))
    .when(by(-1))
    .emitsOnce(granted(-1, 'grant-2'))
})

t.test('reserving for a run', async (t) => {
  const given = deciding(t, account)
  const reserve = decideReserve({ runId: 'run-1', amount: 7 })
  given(granted(5)).when(reserve).emitsOnce(reserved('run-1', 7))
  given().when(reserve).emitsOnce(reserved('run-1', 7))
  given(granted(5), reserved('run-2', 6)).when(reserve).refuses('insufficient_credits')
  given(granted(5), reserved('run-1', 7), settled('run-1', 1)).when(reserve).changesNothing()
  given(granted(5), reserved('run-1', 7), released).when(reserve).changesNothing()
})

t.test('a refusal says what is left', async (t) => {
  const state = evolved(account, account.initial, [granted(1_000_000), reserved('r', 2_500_000)])
  t.equal(effectiveBalance(state), -1_500_000)
  const facts = { creditBalance: 1, effectiveBalance: -1.5, canUseApi: false }
  t.throws(
    () => decideReserve({ runId: 'run-1', amount: 1 })(state),
    new Refusal('insufficient_credits', facts),
  )
})

t.test('settling a run', async (t) => {
  const given = deciding(t, account)
  const settle = decideSettle({ runId: 'run-1', amount: 9 })
  given(granted(5), reserved('run-1', 7)).when(settle).emitsOnce(settled('run-1', 9))
  given(reserved('run-1', 7), settled('run-1', 9)).when(settle).changesNothing()
  given(reserved('run-1', 7), released).when(settle).changesNothing()
  given().when(settle).changesNothing()
})

t.test('releasing a reservation', async (t) => {
  const given = deciding(t, account)
  const release = decideRelease({ runId: 'run-1', reason: 'cancelled' })
  given(reserved('run-1', 7)).when(release).emitsOnce(released)
  given(reserved('run-1', 7), settled('run-1', 9)).when(release).changesNothing()
  given().when(release).changesNothing()
})

t.test('the memory of an account is bounded, and still nothing is charged twice', async (t) => {
  const runs = Array.from({ length: 1_000 }, (_, n) => `run-${n}`)
  const history = runs.flatMap((id) => [reserved(id, 2), settled(id, 1)])
  const state = evolved(account, account.initial, [granted(5_000), ...history])
  t.equal(state.balance, 4_000)
  t.strictSame(state.reservations, noReservations)
  const remembered = state.ended
  t.ok(remembered.length >= 200 && remembered.length <= 225)
  t.strictSame(remembered, runs.slice(-remembered.length))
  t.strictSame(
    remembered.flatMap((runId) => decideReserve({ runId, amount: 1 })(state)),
    [],
    'also those that are not the greatest',
  )
  t.strictSame(
    runs.flatMap((runId) => decideSettle({ runId, amount: 1 })(state)),
    [],
  )
})

t.test('sums stay within exact numbers, whatever was granted, charged and held', async (t) => {
  const most = Number.MAX_SAFE_INTEGER
  const after = (...events: AccountEvent[]) => evolved(account, account.initial, events)
  t.equal(after(granted(most), granted(most, 'grant-2')).balance, most)
  t.equal(after(granted(-most), granted(-most, 'grant-2')).balance, -most)
  const overdrawn = [reserved('run-1', 0), settled('run-1', most)]
  t.equal(after(granted(-most), ...overdrawn).balance, -most)
  t.equal(after(reserved('run-1', most), reserved('run-2', most)).reservations.held, most)
})

t.test('a reservation is cut to the largest amount', async (t) => {
  const given = deciding(t, account)
  const most = Number.MAX_SAFE_INTEGER
  for (const amount of [1e16, Number.MAX_VALUE, Number.POSITIVE_INFINITY])
    given(granted(5))
      .when(decideReserve({ runId: 'run-1', amount }))
      .emits(reserved('run-1', most))
})
