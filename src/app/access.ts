import { findBalance } from '../../queries/find-balance.ts'
import { findMember } from '../../queries/find-member.ts'
import { findStorage } from '../../queries/find-storage.ts'
import { findAccess } from '../caches/find-access.ts'
import type { Config } from '../config.ts'
import { admission } from '../http/checks/admission.ts'
import type { Clock } from '../ports/clock.ts'
import type { Projector } from '../projector/projector.ts'
import { delegate } from '../security/delegate.ts'
import type { Secrets } from '../security/secrets.ts'
import { watchAccess } from '../security/watch-access.ts'
import { requireSubscription } from '../turns/begin/require-subscription.ts'
import { storageQuotas } from '../turns/begin/storage-quotas.ts'
import type { AllViews } from './read-models.ts'

type Uses = {
  config: Pick<Config, 'SUPER_ADMIN_KEY' | 'STORAGE_QUOTA_BASIC' | 'STORAGE_QUOTA_PRO'>
  views: Pick<AllViews, 'accounts' | 'apiKeys' | 'members' | 'storage' | 'users'>
  changes: Projector['changes']
  sharedViews: boolean
  hashApiKey: Secrets['hashApiKey']
  clock: Clock
  /** How often held rights are looked at. */
  rightsLookMs: number | undefined
}

/** What the order of checks rests on: who asks, for whom, within which limits, and who pays. */
export const accessPart = (uses: Uses) => {
  const { config, views, changes, sharedViews, hashApiKey, clock, rightsLookMs } = uses
  const { accounts, apiKeys, members, users } = views
  const access = findAccess({
    apiKeys,
    members,
    users,
    changes,
    sharedViews,
    hashApiKey,
    superAdminKey: config.SUPER_ADMIN_KEY,
    clock,
  })
  return {
    findAccess: access.find,
    watchAccess: watchAccess(access.find, rightsLookMs),
    admit: admission(clock),
    delegate: delegate({ findMembership: findMember({ members }) }),
    requireSubscription: requireSubscription({ findBalance: findBalance({ accounts }) }),
    storage: storageQuotas({
      findStorage: findStorage({ storage: views.storage }),
      findPlan: async (userId) => (await users.get(userId))?.plan ?? null,
      quotas: {
        basic_monthly: config.STORAGE_QUOTA_BASIC,
        pro_monthly: config.STORAGE_QUOTA_PRO,
      },
    }),
    close: access.close,
  }
}
