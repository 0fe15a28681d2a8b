import { accountStream, decideGrant, effectiveBalance } from '../src/domain/account/account.ts'
import { requireUser, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { idFor } from '../src/support/ids.ts'

/** `amount` in micro-credits; a negative one takes credits back. */
export type GrantCredits = { userId: string; amount: number; reason: string }

/** Adds to a user's balance; answers the balances in micro-credits. @throws user_not_found */
export const grantCredits =
  ({ load, transact, clock }: Streams & { clock: Clock }) =>
  async ({ userId, amount, reason }: GrantCredits, call: Call) => {
    requireUser((await load(userStream(userId))).state)
    const grantId = idFor(clock, call, `grant/${userId}`)
    const decide = decideGrant({ grantId, amount, reason })
    const { state, position } = await transact(accountStream(userId), decide, call)
    return { balance: state.balance, effectiveBalance: effectiveBalance(state), position }
  }
export type GrantCreditsCommand = ReturnType<typeof grantCredits>
