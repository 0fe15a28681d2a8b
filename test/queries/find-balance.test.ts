import t from 'tap'
import { accounts } from '../../projections/accounts.ts'
import { findBalance } from '../../queries/find-balance.ts'
import { viewAfter } from '../support/view-after.ts'

const granted = { type: 'CreditsGranted', data: { grantId: 'g', amount: 10, reason: 'r' } } as const
const reserved = (runId: string, amount: number) =>
  ({ type: 'CreditsReserved', data: { runId, amount } }) as const

t.test('amounts that runs reserve are not in the effective balance', async (t) => {
  const held = [granted, reserved('run-1', 3), reserved('run-2', 4)]
  const find = findBalance({ accounts: viewAfter(accounts, 'account-user-1', ...held) })
  t.strictSame(await find('user-1'), { balance: 10, effective: 3 })
  t.equal(await find('user-2'), undefined, 'who never had any')
})
