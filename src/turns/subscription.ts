import { problem } from '../domain/problems.ts'
import type { Access } from '../security/access.ts'

const required_plans = ['basic_monthly', 'pro_monthly']

/** In micro-credits; undefined: the user never had credits. */
export type FindBalance = (
  userId: string,
) => Promise<{ balance: number; effective: number } | undefined>

const credits = (micro: number): number => micro / 1_000_000

/**
 * Subscription, then credits, of the key's backing user (docs/contract/requests.md#subscription-and-credits). Answers the
 * user who pays. @throws no_subscription, invalid_plan, insufficient_credits
 */
export const subscription =
  (findBalance: FindBalance) =>
  async ({ plan, userId }: Access): Promise<string> => {
    if (!plan || !userId)
      throw problem('no_subscription', { has_subscription: false, required_plans })
    if (!required_plans.includes(plan))
      throw problem('invalid_plan', { current_plan: plan, required_plans })
    const account = await findBalance(userId)
    if (account && account.effective < 0)
      throw problem('insufficient_credits', {
        credit_balance: credits(account.balance),
        effective_balance: credits(account.effective),
        can_use_api: false,
      })
    return userId
  }
export type RequireSubscription = ReturnType<typeof subscription>
