import t from 'tap'
import { storageQuotas } from '../../../src/turns/begin/storage-quotas.ts'

const quotas = { basic_monthly: 100, pro_monthly: 1_000 }
const storing = (used: number) =>
  storageQuotas({
    findStorage: async () => used,
    findPlan: async (userId) => (userId === 'pro' ? 'pro_monthly' : null),
    quotas,
  })

t.test('refuses bytes beyond the quota of the plan', async (t) => {
  const of = (plan: string | null) => ({ organizationId: 'org-1', plan })
  await storing(99).require(of('basic_monthly'))
  await storing(90).require(of('basic_monthly'), 10)
  const refused = { code: 'storage_quota_exceeded', facts: { storedBytes: 95, quotaBytes: 100 } }
  await t.rejects(storing(95).require(of('basic_monthly'), 10), refused)
  await t.rejects(storing(100).require(of('basic_monthly')), { code: 'storage_quota_exceeded' })
  await storing(100).require(of('pro_monthly'))
  await t.rejects(storing(100).require(of(null)), { code: 'storage_quota_exceeded' })
  t.strictSame(await storing(7).of(of('pro_monthly')), { used: 7, quota: 1_000 })
})

t.test('reports whether the quota of a user’s plan is used up', async (t) => {
  t.equal(await storing(100).isFull('org-1', 'pro'), false)
  t.equal(await storing(100).isFull('org-1', 'nobody'), true)
  t.equal(await storing(99).isFull('org-1', null), false)
  t.equal(await storing(1_000).isFull('org-1', 'pro'), true)
})
