import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const { setSubscription, appended, appendedOnce, organization } = await commanding(t)

t.test('a plan, another, or none', async (t) => {
  const { ownerId: userId } = await organization()
  for (const plan of ['basic_monthly', 'pro_monthly', null] as const) {
    const act = (by: typeof platformCall) => setSubscription({ userId, plan }, by)
    const events = await appendedOnce(t, act, platformCall)
    const stream = `user-${userId}`
    t.strictSame(events, [{ type: 'SubscriptionChanged', data: { plan }, stream }])
  }
})

t.test('a user that there is not', async (t) => {
  const events = await appended(() =>
    t.rejects(setSubscription({ userId: 'none', plan: 'pro_monthly' }, platformCall), {
      code: 'user_not_found',
    }),
  )
  t.strictSame(events, [])
})
