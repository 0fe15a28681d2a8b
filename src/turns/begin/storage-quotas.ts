import type { FindStorage } from '../../../queries/find-storage.ts'
import { isPlan, type PlanId } from '../../domain/plan.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Access } from '../../security/access.ts'

/** In bytes. */
export type QuotaByPlan = Readonly<Record<PlanId, number>>

type Uses = {
  findStorage: FindStorage
  /** A user's plan; null: none. */
  findPlan(userId: string): Promise<string | null>
  quotas: QuotaByPlan
}

/**
 * Quotas of stored bytes (docs/contract/limits.md#storage): the organization's total against the
 * quota of the caller's plan. The check comes before the write, so concurrent requests may exceed
 * the quota by the data that they store.
 */
export const storageQuotas = ({ findStorage, findPlan, quotas }: Uses) => {
  const smallest = Math.min(...Object.values(quotas))
  const quotaOf = (plan: string | null): number =>
    plan !== null && isPlan(plan) ? quotas[plan] : smallest

  return {
    async of({ organizationId, plan }: Pick<Access, 'organizationId' | 'plan'>) {
      return { used: await findStorage(organizationId), quota: quotaOf(plan) }
    },
    /** `more`: bytes that are to be stored. @throws storage_quota_exceeded */
    async require(
      { organizationId, plan }: Pick<Access, 'organizationId' | 'plan'>,
      more = 0,
    ): Promise<void> {
      const used = await findStorage(organizationId)
      const quota = quotaOf(plan)
      if (used >= quota || used + more > quota)
        throw refusal('storage_quota_exceeded', { storedBytes: used, quotaBytes: quota })
    },
    /** Whether the quota is used up, for work that was accepted earlier. */
    async isFull(organizationId: string, userId: string | null): Promise<boolean> {
      const plan = userId === null ? null : await findPlan(userId)
      return (await findStorage(organizationId)) >= quotaOf(plan)
    },
  }
}
export type StorageQuotas = ReturnType<typeof storageQuotas>
