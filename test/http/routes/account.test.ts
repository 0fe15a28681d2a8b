import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const path = '/api/external/account'
const usage = { prompt_tokens: 1_000, completion_tokens: 1_000 }
const prices = { LLM_PRICES: '{"test/*":{"prompt":1000,"completion":1000}}' }

t.test('the account of a key: plan, limits, balance', async (t) => {
  const { server, organization, key } = await startChat(t, { text: 'Hi', usage }, {}, prices)
  const { ownerId, organizationId } = organization
  const { status, body } = await key.ask('GET', path)
  t.equal(status, 200)
  t.match(body, { user_id: ownerId, plan: 'pro_monthly' })
  const before = body.credit_balance
  t.equal(body.effective_balance, before)

  await key.chat({ messages: user('Hello') })
  const after = (await key.ask('GET', path)).body
  t.equal(after.credit_balance, before - 2, '2,000 tokens at 1,000 credits a million')

  const slow = await organization.key({ rate_limit_minute: 7, rate_limit_hour: 70 })
  const limits = { requests_per_minute: 7, requests_per_hour: 70, requests_at_once: 20 }
  t.match(await slow.ask('GET', path), { body: { limits } })
  const narrow = await organization.key({ scopes: ['sessions:read'] })
  t.match(await narrow.ask('GET', path), { status: 403, code: 'insufficient_scopes' })

  const credits = `/api/admin/organizations/${organizationId}/credits`
  const admin = await organization.key({ scopes: ['admin:read'] })
  t.strictSame((await admin.ask('GET', credits)).body, {
    organization_id: organizationId,
    owners: [
      {
        user_id: ownerId,
        plan: 'pro_monthly',
        credit_balance: before - 2,
        effective_balance: before - 2,
      },
    ],
  })
  t.match(await narrow.ask('GET', credits), { status: 403 })
  const stranger = await (await server.platform.organization()).key({ scopes: ['admin:read'] })
  t.match(await stranger.ask('GET', credits), { code: 'organization_access_denied' })
})
