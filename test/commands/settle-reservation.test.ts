import t from 'tap'
import { accountStream, decideReserve } from '../../src/domain/account/account.ts'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { settleReservation, transact, appended, appendedOnce, credited } = await commanding(t)
await credited()

const reserved = async (runId: string) => {
  await transact(accountStream('user-1'), decideReserve({ runId, amount: 100 }), call)
  return { userId: 'user-1', runId }
}
const stream = 'account-user-1'

t.test('a charge', async (t) => {
  const command = { ...(await reserved('run-1')), charge: 70 }
  const events = await appendedOnce(t, (by) => settleReservation(command, by), call)
  const data = { runId: 'run-1', amount: 70 }
  t.strictSame(events, [{ type: 'CreditsSettled', data, stream }])
})

t.test('a reservation without a charge is released', async (t) => {
  const command = { ...(await reserved('run-2')), charge: 0 }
  const events = await appendedOnce(t, (by) => settleReservation(command, by), call)
  const data = { runId: 'run-2', reason: 'orphaned' }
  t.strictSame(events, [{ type: 'ReservationReleased', data, stream }])
})

t.test('a run that holds nothing is not charged', async (t) => {
  const command = { userId: 'user-1', runId: 'none', charge: 70 }
  t.strictSame(await appended(() => settleReservation(command, call)), [])
})
