/** What a plan allows the members of an organization who are on it. */
export type PlanTerms = {
  /** Requests per minute, of each key that they back. */
  requestsPerMinute: number
  /** Requests at the same time, and runs at the same time. */
  requestsAtOnce: number
  /** Turns, and whatever else is paid with credits. */
  includesApi: boolean
}

/** Every plan there is. */
export const plans = {
  basic_monthly: { requestsPerMinute: 60, requestsAtOnce: 5, includesApi: true },
  pro_monthly: { requestsPerMinute: 300, requestsAtOnce: 20, includesApi: true },
} as const satisfies Record<string, PlanTerms>

export type PlanId = keyof typeof plans

export const isPlan = (id: string): id is PlanId => Object.hasOwn(plans, id)

export const planIds = Object.keys(plans).filter(isPlan)

/** The plans that include the API. */
export const apiPlans: readonly PlanId[] = planIds.filter((id) => plans[id].includesApi)

/** What a plan allows; undefined: there is no such plan. */
export const termsOf = (id: string): PlanTerms | undefined => (isPlan(id) ? plans[id] : undefined)

/** What a user without a plan may have at the same time: as much as the smallest plan allows. */
export const requestsAtOnceWithoutPlan = Math.min(
  ...Object.values(plans).map(({ requestsAtOnce }) => requestsAtOnce),
)

/** How many runs a user with this plan may have at the same time, in each organization. */
export const runsAtOnceOf = (plan: string | null): number =>
  (plan === null ? undefined : termsOf(plan)?.requestsAtOnce) ?? requestsAtOnceWithoutPlan
