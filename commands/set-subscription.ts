import type { PlanId } from '../src/domain/plan.ts'
import { decideSubscribe, userStream } from '../src/domain/user/user.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Puts a user on a plan, or on none. @throws user_not_found */
export const setSubscription =
  ({ transact }: { transact: Transact }) =>
  async ({ userId, plan }: { userId: string; plan: PlanId | null }, call: Call) => {
    const { position } = await transact(userStream(userId), decideSubscribe(plan), call)
    return { position }
  }
export type SetSubscriptionCommand = ReturnType<typeof setSubscription>
