import type { AccountView } from '../projections/accounts.ts'
import type { View } from '../src/ports/views.ts'

/** What a user has, and what of it no run holds back, in micro-credits; undefined: never any. */
export const findBalance = (accounts: View<AccountView>) => async (userId: string) => {
  const account = await accounts.get(userId)
  if (!account) return undefined
  const { balance, reservations } = account
  const held = Object.values(reservations).reduce((sum, amount) => sum + amount, 0)
  return { balance, effective: balance - held }
}
