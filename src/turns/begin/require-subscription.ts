import { creditUnit } from '../../domain/amounts.ts'
import { apiPlans, termsOf } from '../../domain/plan.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Access } from '../../security/access.ts'

/** In micro-credits; undefined: the user never had credits. */
export type FindBalance = (
  userId: string,
) => Promise<{ balance: number; effective: number } | undefined>

/**
 * Subscription, then credits, of the key's backing user
 * (docs/contract/requests.md#subscription-and-credits). Answers who pays. @throws no_subscription,
 * invalid_plan, insufficient_credits
 */
export const requireSubscription =
  ({ findBalance }: { findBalance: FindBalance }) =>
  async ({ plan, userId }: Access): Promise<string> => {
    if (!plan || !userId)
      throw refusal('no_subscription', { hasSubscription: false, requiredPlans: apiPlans })
    if (!termsOf(plan)?.includesApi)
      throw refusal('invalid_plan', { currentPlan: plan, requiredPlans: apiPlans })
    const account = await findBalance(userId)
    if (account && account.effective < 0)
      throw refusal('insufficient_credits', {
        creditBalance: account.balance / creditUnit,
        effectiveBalance: account.effective / creditUnit,
        canUseApi: false,
      })
    return userId
  }
export type RequireSubscription = ReturnType<typeof requireSubscription>
