import type { AccountView } from '../projections/accounts.ts'
import type { View } from '../src/ports/views.ts'

/**
 * A user's balance, and the balance less reservations, in micro-credits; undefined if the user never
 * had an account.
 */
export const findBalance = (accounts: View<AccountView>) => async (userId: string) => {
  const account = await accounts.get(userId)
  if (!account) return undefined
  const { balance, reservations } = account
  const held = Object.values(reservations).reduce((sum, amount) => sum + amount, 0)
  return { balance, effective: balance - held }
}
