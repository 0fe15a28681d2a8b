import { findBalance } from '../../queries/find-balance.ts'
import { findMember } from '../../queries/find-member.ts'
import { findStorage } from '../../queries/find-storage.ts'
import { findAccess } from '../caches/find-access.ts'
import { admission } from '../http/checks/admission.ts'
import { ownPage } from '../http/checks/own-page.ts'
import { delegate } from '../security/delegate.ts'
import { watchAccess } from '../security/watch-access.ts'
import { requireSubscription } from '../turns/begin/require-subscription.ts'
import { storageQuotas } from '../turns/begin/storage-quotas.ts'
import type { Host } from './host.ts'
import type { Reading } from './reading.ts'
import type { Storage } from './storage.ts'
import type { Writing } from './writing.ts'

type Uses = { host: Host; storage: Storage; writing: Writing; reading: Reading }

/** What the order of checks rests on: who asks, for whom, within which limits, and who pays. */
export const accessPart = ({ host, storage, writing, reading }: Uses) => {
  const { config, options, clock } = host
  const { secrets } = writing
  const { views, changes } = reading
  const { accounts, apiKeys, consoleSessions, members, users } = views
  const access = findAccess({
    apiKeys,
    consoleSessions,
    members,
    users,
    changes,
    sharedViews: storage.stores.sharedViews,
    hashApiKey: secrets.hashApiKey,
    hashConsoleToken: secrets.hashConsoleToken,
    superAdminKey: config.SUPER_ADMIN_KEY,
    clock,
  })
  return {
    findAccess: access.find,
    watchAccess: watchAccess(access.find, options.rightsLookMs),
    admit: admission(clock),
    ownPage: ownPage({ publicUrl: config.PUBLIC_URL, csrfTokenOf: secrets.csrfTokenOf }),
    delegate: delegate({ findMembership: findMember({ members }) }),
    requireSubscription: requireSubscription({ findBalance: findBalance({ accounts }) }),
    quotas: storageQuotas({
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

export type Access = ReturnType<typeof accessPart>
