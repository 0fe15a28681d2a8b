import { type AccountView, reservationsIn } from '../projections/accounts.ts'
import type { View } from '../src/ports/views.ts'

/**
 * A user's balance, and the balance less reservations, in micro-credits; undefined without an
 * account.
 */
export const findBalance =
  ({ accounts }: { accounts: View<AccountView> }) =>
  (userId: string) =>
    accounts.get(userId).then((account) => {
      if (!account) return undefined
      const { balance } = account
      return { balance, effective: balance - reservationsIn(account).held }
    })
