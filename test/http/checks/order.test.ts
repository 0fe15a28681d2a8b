import t from 'tap'
import { type RawRequest, raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const chat = '/api/external/v1/chat/completions'
const unknownId = '0198c0de-0000-7000-8000-000000000001'
const invoke = ['orchestrator:invoke']

/** docs/contract/requests.md#order-of-checks: only the first fault of a request is reported. */
t.test('each check comes before the next', async (t) => {
  const { url, platform } = await startApp(t, { TRUST_PROXY: 'on' })
  const ask = raw(url)
  const { ask: admin, ...setup } = platform
  const poor = await setup.organization({ plan: null, credits: 0 })
  const spent = await poor.key({ rate_limit_minute: 1 })
  await spent.sessions()
  const reader = await poor.key({ scopes: ['sessions:read'] })
  const invoker = await poor.key({ scopes: invoke })
  const delegate = await poor.key({ scopes: [...invoke, 'users:delegate'] })

  const sent: { headers: Record<string, string>; body: string } = {
    headers: {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'http',
      'x-organization-id': unknownId,
      'content-type': 'text/plain',
    },
    body: `${' '.repeat(10 * 1024 * 1024)}{`,
  }
  const steps: [string, number, () => unknown][] = [
    ['https_required', 403, () => undefined],
    ['missing_api_key', 401, () => Object.assign(sent.headers, { 'x-forwarded-proto': 'https' })],
    ['invalid_api_key', 401, () => Object.assign(sent.headers, { 'x-api-key': 'svc_live_none' })],
    [
      'organization_access_denied',
      403,
      () => Object.assign(sent.headers, { 'x-api-key': spent.key }),
    ],
    [
      'rate_limit_exceeded',
      429,
      () => Object.assign(sent.headers, { 'x-organization-id': poor.organizationId }),
    ],
    ['insufficient_scopes', 403, () => Object.assign(sent.headers, { 'x-api-key': reader.key })],
    [
      'unsupported_media_type',
      415,
      () => Object.assign(sent.headers, { 'x-api-key': invoker.key }),
    ],
    [
      'payload_too_large',
      413,
      () => Object.assign(sent.headers, { 'content-type': 'application/json' }),
    ],
    ['invalid_json', 400, () => Object.assign(sent, { body: '{' })],
    [
      'insufficient_scopes',
      403,
      () => Object.assign(sent, { body: JSON.stringify({ on_behalf_of: unknownId }) }),
    ],
    [
      'missing_required_field',
      400,
      () => Object.assign(sent.headers, { 'x-api-key': delegate.key }),
    ],
    [
      'user_not_found',
      404,
      () => {
        const messages = [{ role: 'user', content: 'Hello' }]
        const body = { messages, on_behalf_of: unknownId, target_agent_id: unknownId }
        return Object.assign(sent, { body: JSON.stringify(body) })
      },
    ],
    [
      'no_subscription',
      403,
      () => {
        const { on_behalf_of: _, ...body } = JSON.parse(sent.body)
        return Object.assign(sent, { body: JSON.stringify(body) })
      },
    ],
    [
      'insufficient_credits',
      402,
      async () => {
        await admin('PUT', `/users/${poor.ownerId}/subscription`, { plan: 'basic_monthly' })
        await admin('POST', `/users/${poor.ownerId}/credits`, { amount: -1, reason: 'spent' })
      },
    ],
    [
      'agent_not_found',
      404,
      () => admin('POST', `/users/${poor.ownerId}/credits`, { amount: 9, reason: 'paid' }),
    ],
  ]
  for (const [code, status, mend] of steps) {
    await mend()
    const answer = await ask(chat, { method: 'POST', ...sent })
    t.match(answer, { status, headers: { 'x-error-code': code } }, code)
    const limited = answer.headers['x-ratelimit-limit-minute'] !== undefined
    const beforeLimits = [
      'https_required',
      'missing_api_key',
      'invalid_api_key',
      'organization_access_denied',
    ]
    t.equal(limited, !beforeLimits.includes(code), `${code}: rate-limit headers from step 4 on`)
  }
})

t.test('a query that needs a scope is refused for it before it is validated', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const key = await organization.key()
  const wrong = `?on_behalf_of=${unknownId}&page_size=0`
  t.match(await key.sessions(wrong), {
    status: 403,
    code: 'insufficient_scopes',
    body: {
      required_scopes: ['sessions:read', 'users:delegate'],
      missing_scopes: ['users:delegate'],
    },
  })
  const delegate = await organization.key({ scopes: ['sessions:read', 'users:delegate'] })
  t.match(await delegate.sessions(wrong), { status: 400, code: 'invalid_query' })
  t.match(await delegate.sessions(`?on_behalf_of=${unknownId}`), { code: 'user_not_found' })
})

t.test('a key is found wherever clients put it', async (t) => {
  const { url, platform } = await startApp(t)
  const ask = raw(url)
  const { organizationId, ...organization } = await platform.organization()
  const { key } = await organization.key()
  const missing = { status: 401, headers: { 'x-error-code': 'missing_api_key' } }
  const invalid = { status: 401, headers: { 'x-error-code': 'invalid_api_key' } }
  const cases: [string, RawRequest['headers'] & object, object][] = [
    ['X-API-Key', { 'x-api-key': key }, { status: 200 }],
    ['Bearer', { authorization: `Bearer ${key}` }, { status: 200 }],
    ['in any case', { Authorization: `bearer  ${key}` }, { status: 200 }],
    ['X-API-Key wins', { 'x-api-key': key, authorization: 'Bearer none' }, { status: 200 }],
    ['also when it is wrong', { 'x-api-key': 'none', authorization: `Bearer ${key}` }, invalid],
    ['an empty one does not', { 'x-api-key': '', authorization: `Bearer ${key}` }, { status: 200 }],
    ['none', {}, missing],
    ['empty', { 'x-api-key': '' }, missing],
    ['blank', { 'x-api-key': '  ' }, missing],
    ['Bearer and nothing', { authorization: 'Bearer ' }, missing],
    ['another scheme', { authorization: `Basic ${key}` }, missing],
    ['twice', { 'x-api-key': [key, key] }, invalid],
    ['too long', { 'x-api-key': 'k'.repeat(9_000) }, invalid],
    ['not ASCII', { 'x-api-key': 'schlüssel' }, invalid],
  ]
  for (const [name, headers, expected] of cases)
    t.match(await ask('/api/external/sessions', { headers }), expected, name)
})

t.test('an organization key acts in its own organization only', async (t) => {
  const { url, platform } = await startApp(t)
  const own = await platform.organization()
  const other = await platform.organization()
  const { key } = await own.key()
  const listSessions = (id: string) =>
    raw(url)('/api/external/sessions', { headers: { 'x-api-key': key, 'x-organization-id': id } })
  t.match(await listSessions(own.organizationId), { status: 200 })
  t.match(await listSessions(''), { status: 200 })
  for (const id of [other.organizationId, 'nothing', 'x'.repeat(5_000), '__proto__'])
    t.match(await listSessions(id), {
      status: 403,
      headers: { 'x-error-code': 'organization_access_denied' },
      body: { detail: String },
    })
})

t.test('a user key acts where it says, else where its user is', async (t) => {
  const { url, platform } = await startApp(t)
  const own = await platform.organization()
  const other = await platform.organization()
  const { key } = await own.key({ type: 'user' })
  const listSessions = (headers: Record<string, string>) =>
    raw(url)('/api/external/sessions', { headers: { 'x-api-key': key, ...headers } })
  t.match(await listSessions({}), { status: 200 })
  t.match(await listSessions({ 'x-organization-id': own.organizationId }), { status: 200 })
  for (const id of [other.organizationId, unknownId, '__proto__', 'x'.repeat(5_000)])
    t.match(await listSessions({ 'x-organization-id': id }), {
      status: 403,
      headers: { 'x-error-code': 'organization_access_denied' },
    })
})
