import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { contentRequest } from '../support/content-request.ts'
import { call } from '../support/recorded.ts'

const { requestContent, grantCredits, appended, appendedOnce, organization } = await commanding(t)

t.test('credits are held back, then the item is asked for', async (t) => {
  const request = contentRequest('c-1')
  const events = await appendedOnce(t, (by) => requestContent(request, by), call)
  t.strictSame(typesOf(events), ['CreditsReserved', 'ContentRequested'])
  t.match(events[0], { data: { runId: 'content:c-1:0', amount: 100 }, stream: 'account-user-1' })
  t.match(events[1], { stream: 'content-org-1_c-1' })
})

t.test('without credits it is not', async (t) => {
  const { ownerId: payerId } = await organization()
  await grantCredits({ userId: payerId, amount: -1, reason: 'debt' }, call)
  const events = await appended(() =>
    t.rejects(requestContent(contentRequest('c-2', { payerId }), call), {
      code: 'insufficient_credits',
    }),
  )
  t.strictSame(events, [])
})
