import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { recordRefusal, appended } = await commanding(t)

t.test('a refusal of access, by key', async (t) => {
  const data = { code: 'role_required', status: 403, method: 'GET', route: '/api/admin' }
  const refused = { type: 'AccessRefused', data } as const
  t.strictSame(await appended(() => recordRefusal(refused, call)), [
    { ...refused, stream: 'refusals-org-1_key-1' },
  ])
  t.match(await appended(() => recordRefusal(refused, { ...call, keyId: null })), [
    { stream: 'refusals-org-1_platform' },
  ])
})

t.test('records a summary of refusals per organization', async (t) => {
  const data = { count: 2, from: call.at, to: call.at, codes: { role_required: 2 } }
  const summary = { type: 'AccessRefusalsSummarized', data } as const
  t.strictSame(await appended(() => recordRefusal(summary, { ...call, keyId: null })), [
    { ...summary, stream: 'refusals-org-1_summary' },
  ])
})
