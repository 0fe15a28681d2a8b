import t from 'tap'
import { mostConsoleSessions } from '../../../src/domain/console-session/console-session.ts'
import { browsing, cookieIn, origin, signIn } from '../../support/console.ts'
import { superAdminKey } from '../../support/platform.ts'
import { movableClock, startApp } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

const scene = async (...of: Parameters<typeof startApp>) => {
  const app = await startApp(...of)
  const organization = await app.platform.organization()
  const at = `/api/admin/organizations/${organization.organizationId}`
  const key = await organization.key({ scopes: ['admin:read', 'admin:write', 'sessions:read'] })
  return { app, organization, at, key, browse: browsing(app) }
}

const typesOf = (events: readonly { type: string }[]) =>
  events.map(({ type }) => type).filter((type) => type.startsWith('Console'))

t.test('a sign-in with a key sets a cookie that the API accepts', async (t) => {
  const { app, organization, at, key } = await scene(t)
  const { answer, cookie, csrf, ask } = await signIn(app, key.key)
  t.match(answer, {
    status: 200,
    body: {
      csrf_token: /^[0-9a-f]{64}$/,
      user: { user_id: organization.ownerId, email: String, name: 'Olga', role: 'OWNER' },
      organization_id: organization.organizationId,
      scopes: ['admin:read', 'admin:write', 'sessions:read'],
      expires_at: String,
    },
  })
  const left = Date.parse(answer.body.expires_at) - Date.now()
  t.ok(left > 43_100_000 && left <= 43_200_000, '12 hours')
  t.match(
    answer.headers['set-cookie'],
    /^reprise_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  t.match(await ask('GET', '/console/session'), { status: 200, body: answer.body })
  t.match(await ask('GET', at), { status: 200 })
  t.match(await ask('POST', `${at}/agents`, { name: 'Made' }), { status: 201 })
  const { body } = await key.ask('GET', `${at}/audit/events?limit=500`)
  const [started] = body.events.filter(({ type }: { type: string }) => /^Console/.test(type))
  t.match(started, {
    type: 'ConsoleSessionStarted',
    metadata: { actor: { user_id: organization.ownerId } },
  })
  const [, token = '?'] = cookie.split('=')
  t.notOk(JSON.stringify(body).includes(token), 'the token is in no event')
  t.notOk(JSON.stringify(body).includes(csrf), 'nor is the CSRF token')
})

t.test('over HTTPS the cookie is Secure', async (t) => {
  const { app, key } = await scene(t, { TRUST_PROXY: 'on' })
  const secure = { 'x-forwarded-proto': 'https', origin: origin.replace('http', 'https') }
  const { answer } = await signIn(app, key.key, secure)
  t.match(answer.headers['set-cookie'], /; Secure$/)
})

t.test('a sign-in with an unknown key or a malformed body is refused', async (t) => {
  const { browse } = await scene(t)
  const post = (payload: object | string, headers = {}) =>
    browse('POST', '/console/session', { origin, ...headers }, payload)
  t.match(await post({ api_key: 'svc_live_none' }), { status: 401, code: 'invalid_api_key' })
  t.match(await post({}), { status: 400, code: 'missing_required_field' })
  t.match(await post({ api_key: 'k'.repeat(513) }), { status: 400, code: 'invalid_input' })
  t.match(await post({ api_key: 'k'.repeat(5_000) }), { status: 413 })
  t.match(await post('api_key=x', { 'content-type': 'text/plain' }), { status: 415 })
  for (const reply of [await post({ api_key: 'svc_live_none' })])
    t.notOk(reply.headers['set-cookie'])
})

t.test('a sign-in needs an Origin equal to ours', async (t) => {
  const { browse, key } = await scene(t, { PUBLIC_URL: 'https://agents.example/' })
  const foreign = [
    `${origin}:8080`,
    'http://evil.console.example',
    'https://console.example',
    'null',
    '',
  ]
  for (const from of [undefined, ...foreign])
    t.match(
      await browse('POST', '/console/session', from === undefined ? {} : { origin: from }, {
        api_key: key.key,
      }),
      { status: 403, code: 'origin_not_allowed' },
      String(from),
    )
  for (const own of [origin, 'https://agents.example'])
    t.match(await browse('POST', '/console/session', { origin: own }, { api_key: key.key }), {
      status: 200,
    })
})

t.test('a change with the cookie needs our Origin and the token of the session', async (t) => {
  const { app, at, key } = await scene(t)
  const { ask, cookie, csrf } = await signIn(app, key.key)
  const other = await signIn(app, key.key)
  const change = (headers: Record<string, string>) =>
    browsing(app)('POST', `${at}/agents`, { cookie, ...headers }, { name: 'Made' })
  const token = { 'x-csrf-token': csrf }
  for (const headers of [
    token,
    { ...token, origin: 'http://console.example:8080' },
    { ...token, origin: 'http://sub.console.example' },
    { ...token, origin: 'null' },
    { ...token, origin, 'sec-fetch-site': 'same-site' },
  ])
    t.match(await change(headers), { status: 403, code: 'origin_not_allowed' })
  for (const given of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': other.csrf }])
    t.match(await change({ origin, ...given }), { status: 403, code: 'invalid_csrf_token' })
  t.match(await change({ origin, ...token }), { status: 201 })
  t.match(await ask('GET', `${at}/agents`), { status: 200 })
})

t.test('a read that a page of another origin began is refused', async (t) => {
  const { app, at, key } = await scene(t, { CORS_ORIGINS: '*' })
  const { ask } = await signIn(app, key.key)
  for (const headers of [
    { origin: 'http://console.example:8080' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const reply = await ask('GET', at, undefined, headers)
    t.match(reply, { status: 403, code: 'origin_not_allowed' })
    t.notOk(reply.headers['access-control-allow-credentials'])
  }
  t.match(await ask('GET', at, undefined, { 'sec-fetch-site': 'same-origin' }), { status: 200 })
})

t.test('a key in a header wins over the cookie', async (t) => {
  const { app, at, key, browse } = await scene(t)
  const { cookie } = await signIn(app, key.key)
  const other = await app.platform.organization()
  const otherKey = await other.key({ scopes: ['admin:read'] })
  const of = (headers: Record<string, string>) => browse('GET', at, { cookie, ...headers })
  t.match(await of({ 'x-api-key': otherKey.key }), { code: 'organization_access_denied' })
  t.match(await of({ 'x-api-key': 'svc_live_none' }), { status: 401, code: 'invalid_api_key' })
  t.match(await of({ authorization: `Bearer ${key.key}` }), { status: 200 })
  const [, token = ''] = cookie.split('=')
  t.match(
    await browse('GET', at, { 'x-api-key': token }),
    { status: 401, code: 'invalid_api_key' },
    'a session is no key',
  )
})

t.test('a cookie of no session is refused', async (t) => {
  const { app, at, key, browse } = await scene(t)
  const { cookie } = await signIn(app, key.key)
  const other = await signIn(app, key.key)
  for (const sent of [
    'reprise_session=',
    'reprise_session=x',
    `reprise_session=${'a'.repeat(43)}`,
    `reprise_session=${'a'.repeat(8_000)}`,
    `${cookie}; ${other.cookie}`,
    `${cookie};${cookie}`,
  ])
    for (const url of [at, '/console/session'])
      t.match(await browse('GET', url, { cookie: sent }), {
        status: 401,
        code: 'invalid_session',
      })
  t.match(await browse('GET', at, { cookie: 'other=1' }), { code: 'missing_api_key' })
  t.match(await browse('GET', '/console/session'), { status: 401, code: 'invalid_session' })
  const among = `a=1; ${cookie}; b=${'c'.repeat(8_000)}`
  t.match(await browse('GET', at, { cookie: among }), { status: 200 })
})

t.test('a sign-in makes a new token, whatever cookie came with it', async (t) => {
  const { app, at, key, browse } = await scene(t)
  const fixed = `reprise_session=${'f'.repeat(43)}`
  const { cookie } = await signIn(app, key.key, { cookie: fixed })
  t.not(cookie, fixed)
  t.match(await browse('GET', at, { cookie: fixed }), { status: 401 })
  t.match(await browse('GET', at, { cookie }), { status: 200 })
})

t.test('a sign-out ends the session; everywhere, all of the user’s', async (t) => {
  const { app, organization, at, key } = await scene(t)
  const [first, second, third] = [
    await signIn(app, key.key),
    await signIn(app, key.key),
    await signIn(app, key.key),
  ]
  t.match(await first.ask('DELETE', '/console/session', undefined, { 'x-csrf-token': 'x' }), {
    status: 403,
    code: 'invalid_csrf_token',
  })
  const out = await first.ask('DELETE', '/console/session')
  t.match(out, { status: 204, headers: { 'set-cookie': /^reprise_session=; Path=\/; Max-Age=0/ } })
  t.match(await first.ask('GET', at), { status: 401, code: 'invalid_session' })
  t.match(await second.ask('GET', at), { status: 200 })
  t.match(await second.ask('DELETE', '/console/sessions'), { status: 204 })
  for (const { ask } of [second, third]) t.match(await ask('GET', at), { status: 401 })
  const events = await app.platform.events(organization.organizationId)
  t.strictSame(typesOf(events), [
    'ConsoleSessionStarted',
    'ConsoleSessionStarted',
    'ConsoleSessionStarted',
    'ConsoleSessionsEnded',
    'ConsoleSessionsEnded',
  ])
})

t.test(
  'a sign-out everywhere by an organization key leaves the user’s other sessions',
  async (t) => {
    const { app, organization, at, key } = await scene(t)
    const other = await organization.key({ scopes: ['admin:read'] })
    const mine = await signIn(app, key.key)
    const shared = await signIn(app, other.key)
    t.match(await shared.ask('DELETE', '/console/sessions'), { status: 204 })
    t.match(await shared.ask('GET', at), { status: 401 })
    t.match(await mine.ask('GET', at), { status: 200 })
  },
)

t.test('a revoked or narrowed key ends or narrows its sessions at once', async (t) => {
  const { app, organization, at, key } = await scene(t)
  const { ask } = await signIn(app, key.key)
  const { body } = await app.asPlatform('GET', `${at}/api-keys`)
  const { key_id } = body.api_keys[0]
  await app.asPlatform('PATCH', `${at}/api-keys/${key_id}`, { scopes: ['sessions:read'] })
  t.match(await ask('GET', '/console/session'), { body: { scopes: ['sessions:read'] } })
  t.match(await ask('GET', at), { status: 403, code: 'insufficient_scopes' })
  await app.asPlatform('DELETE', `${at}/api-keys/${key_id}`)
  t.match(await ask('GET', at), { status: 401, code: 'invalid_session' })
  t.match(await ask('GET', '/console/session'), { status: 401, code: 'invalid_session' })
  t.ok(organization)
})

t.test('a session reaches no other organization', async (t) => {
  const { app, key } = await scene(t)
  const other = await app.platform.organization()
  const { ask } = await signIn(app, key.key)
  const elsewhere = { 'x-organization-id': other.organizationId }
  t.match(await ask('GET', `/api/admin/organizations/${other.organizationId}`), {
    status: 403,
    code: 'organization_access_denied',
  })
  for (const url of ['/console/session', '/api/external/sessions'])
    t.match(await ask('GET', url, undefined, elsewhere), {
      status: 403,
      code: 'organization_access_denied',
    })
})

t.test('the platform’s key signs in; with another one its sessions end', async (t) => {
  const { app, at } = await scene(t)
  const { answer, ask } = await signIn(app, superAdminKey)
  t.match(answer.body, {
    user: { user_id: null, role: 'SUPER_ADMIN' },
    organization_id: null,
    scopes: ['admin:read', 'admin:write'],
  })
  t.match(await ask('GET', at), { status: 200 })
  t.match(await ask('POST', '/api/admin/organizations', { name: 'x' }), { status: 400 })
  await app.restart()
  t.match(await ask('GET', at), { status: 200 }, 'a restart keeps sessions')
  await app.restart({ SUPER_ADMIN_KEY: 'another-platform-key-of-32-characters' })
  t.match(await ask('GET', at), { status: 401, code: 'invalid_session' })
})

t.test('a session ends after 12 hours, and when the clock steps back before it', async (t) => {
  const clock = movableClock()
  const { app, at, key } = await scene(t, {}, { clock })
  const first = await signIn(app, key.key)
  clock.advance(12 * 3_600_000 - 60_000)
  t.match(await first.ask('GET', at), { status: 200 })
  clock.advance(60_001)
  t.match(await first.ask('GET', at), { status: 401, code: 'invalid_session' })
  const second = await signIn(app, key.key)
  t.match(await second.ask('GET', at), { status: 200 })
  clock.step(-3_600_000)
  clock.advance(61_000)
  t.match(await second.ask('GET', at), { status: 401, code: 'invalid_session' })
})

t.test('a restart keeps sessions', async (t) => {
  const { app, at, key } = await scene(t)
  const { ask } = await signIn(app, key.key)
  await app.restart()
  t.match(await ask('GET', at), { status: 200 })
  t.match(await ask('POST', `${at}/agents`, { name: 'Made' }), { status: 201 })
})

t.test('a key has 20 sessions: the oldest ends', async (t) => {
  const clock = movableClock()
  const { app, at, key } = await scene(t, {}, { clock })
  const sessions = []
  for (let n = 0; n <= mostConsoleSessions; n++) {
    sessions.push(await signIn(app, key.key))
    clock.advance(60_000)
  }
  t.match(await sessions[0]?.ask('GET', at), { status: 401, code: 'invalid_session' })
  t.match(await sessions[1]?.ask('GET', at), { status: 200 })
})

t.test('sign-ins of an address are limited, of others not', async (t) => {
  const { app, key, browse } = await scene(t, { TRUST_PROXY: 'on' })
  const from = (address: string) => ({
    origin: origin.replace('http', 'https'),
    'x-forwarded-for': address,
    'x-forwarded-proto': 'https',
  })
  const flood = (address: string) =>
    browse('POST', '/console/session', from(address), { api_key: 'svc_live_none' })
  for (let n = 0; n < 60; n++) t.match(await flood(`2001:db8::${n}`), { status: 401 })
  t.match(await flood('2001:db8::ffff'), {
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': '60' },
  })
  t.match(await browse('POST', '/console/session', from('2001:db8::1'), { api_key: key.key }), {
    status: 429,
  })
  t.match(await flood('2001:db8:0:1::1'), { status: 401 })
  t.match(await flood('203.0.113.9'), { status: 401 })
  t.match(await signIn(app, key.key, from('203.0.113.10')), { answer: { status: 200 } })
})

t.test('the console takes nothing from the windows of its key', async (t) => {
  const { app, organization, at } = await scene(t)
  const key = await organization.key({
    scopes: ['admin:read', 'admin:write'],
    rate_limit_minute: 2,
  })
  const { ask } = await signIn(app, key.key)
  for (let n = 0; n < 5; n++) t.match(await ask('GET', at), { status: 200 })
  const change = () => ask('PATCH', at, { name: 'Renamed' })
  for (const status of [200, 200, 429]) t.match(await change(), { status })
  t.match(await ask('GET', at), { status: 200, headers: { 'x-ratelimit-limit-minute': 600 } })
  for (const status of [200, 200, 429]) t.match(await key.ask('GET', at), { status })
  t.match(await ask('DELETE', '/console/session'), { status: 204 }, 'signing out is not refused')
})

t.test('a socket with the cookie needs our Origin, and ends with the session', async (t) => {
  const { app, organization, key } = await scene(t)
  const chatKey = await organization.key({
    scopes: ['orchestrator:invoke', 'orchestrator:stream'],
  })
  const { ask, cookie } = await signIn(app, chatKey.key)
  const own = app.url
  const { host } = new URL(own)
  for (const headers of [
    { cookie },
    { cookie, origin: 'http://127.0.0.1:1' },
    { cookie, origin: `http://evil.${host}` },
  ]) {
    const refused = await t.rejects(connect(own, headers))
    t.match(refused, { message: 'Unexpected server response: 403' })
  }
  const unknown = { cookie: `reprise_session=${'a'.repeat(43)}`, origin: own }
  t.match(await t.rejects(connect(own, unknown)), {
    message: 'Unexpected server response: 401',
  })
  const socket = await connect(own, { cookie, origin: own })
  t.match(await socket.next(), {
    type: 'authenticated',
    organization_id: organization.organizationId,
  })
  socket.send({ type: 'message', content: 'Hello' })
  await socket.until('stream_complete')
  t.match(await ask('DELETE', '/console/session'), { status: 204 })
  t.match(await socket.closed, { code: 4401 })
  t.ok(key)
})

t.test('the options say that nobody can sign in by OpenID Connect', async (t) => {
  const { browse } = await scene(t)
  t.match(await browse('GET', '/console/session/options'), {
    status: 200,
    body: { openid: false },
  })
  t.equal(cookieIn({ headers: {} }), 'undefined')
})
