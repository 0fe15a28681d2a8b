import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const { grantCredits, appended, appendedOnce, organization } = await commanding(t)

t.test('credits are granted to users there are', async (t) => {
  const { ownerId: userId } = await organization()
  const grant = { userId, amount: 1_500_000, reason: 'gift' }
  t.match(await grantCredits(grant, platformCall), { balance: 1_500_000 })
  t.match(await grantCredits(grant, platformCall), { balance: 3_000_000 })
  const once = { ...platformCall, scope: 'once' }
  t.match(await grantCredits(grant, once), { balance: 4_500_000 })
  t.match(await grantCredits(grant, once), { balance: 4_500_000 })
  const events = await appended(() =>
    t.rejects(grantCredits({ ...grant, userId: 'nobody' }, platformCall), {
      code: 'user_not_found',
    }),
  )
  t.strictSame(events, [])
})

t.test('a negative amount takes credits back', async (t) => {
  const { ownerId: userId } = await organization()
  const grant = { userId, amount: -1, reason: 'debt' }
  const events = await appendedOnce(t, (by) => grantCredits(grant, by), platformCall)
  const data = { amount: -1, reason: 'debt', grantId: String }
  t.match(events, [{ type: 'CreditsGranted', data, stream: `account-${userId}` }])
})
