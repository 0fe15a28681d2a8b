import t from 'tap'
import { apiPlans, isPlan, planIds, plans, termsOf } from '../../src/domain/plan.ts'

t.test('every plan has limits, and says whether it includes the API', async (t) => {
  t.strictSame(planIds, ['basic_monthly', 'pro_monthly'])
  t.strictSame(apiPlans, ['basic_monthly', 'pro_monthly'])
  for (const id of planIds) t.equal(termsOf(id), plans[id])
})

t.test('there are no other plans', async (t) => {
  for (const id of ['starter_monthly', '', 'toString', '__proto__']) {
    t.notOk(isPlan(id))
    t.equal(termsOf(id), undefined)
  }
})
