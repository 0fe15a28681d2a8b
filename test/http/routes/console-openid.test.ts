import t, { type Test } from 'tap'
import { cookieJar, identityProvider } from '../../support/identity-provider.ts'
import { startApp } from '../../support/server.ts'

const email = 'ann@example.com'
const ann = { sub: 'subject-of-ann', email, email_verified: true }

const scene = async (t: Test) => {
  const provider = await identityProvider(t)
  const app = await startApp(t, provider.env)
  const organization = await app.platform.organization()
  const at = `/organizations/${organization.organizationId}`
  const invited = await app.platform.ask('POST', `${at}/members`, { email })
  await app.platform.ask('POST', '/identity/logins', {
    email,
    provider: 'another',
    subject: 'of ann',
    accept: [{ organization_id: organization.organizationId }],
  })
  provider.start(app.url)
  provider.becomes(ann)

  /** Up to the address of ours that the provider leads back to. */
  const reach = async (browser = cookieJar()) => {
    const start = await browser.get(new URL('/console/openid', app.url))
    let next = start.headers.get('location') ?? ''
    const isOurs = () => next.startsWith(app.url)
    for (let steps = 0; steps < 5 && !isOurs(); steps++)
      next = new URL((await browser.get(next)).headers.get('location') ?? '', next).href
    return { browser, start, callback: next }
  }
  const signIn = async () => {
    const { browser, callback } = await reach()
    const page = await browser.get(callback)
    const cookie = `reprise_session=${browser.cookie(app.url, 'reprise_session')}`
    const session = await fetch(new URL('/console/session', app.url), { headers: { cookie } })
    const current = (await session.json()) as { scopes: string[]; csrf_token: string }
    return { status: page.status, page, cookie, session: current }
  }
  return { app, organization, provider, userId: invited.user_id, reach, signIn }
}

const codeOf = ({ headers }: Response) => headers.get('x-error-code')

t.test('a verified address finds the account once, then issuer and subject do', async (t) => {
  const { app, organization, provider, userId, reach, signIn } = await scene(t)
  const { start } = await reach()
  t.equal(start.status, 302)
  const query = new URL(start.headers.get('location') ?? '').searchParams
  t.equal(query.get('code_challenge_method'), 'S256')
  for (const name of ['code_challenge', 'state', 'nonce'])
    t.match(query.get(name), /^[\w-]{43,64}$/, name)
  t.match(
    start.headers.get('set-cookie'),
    /^reprise_openid=[\w-]{43}; Path=\/console\/openid; Max-Age=600; HttpOnly; SameSite=Lax$/,
  )
  const { page, session, cookie } = await signIn()
  t.equal(page.status, 200)
  const html = await page.text()
  t.match(html, '<meta http-equiv="refresh" content="0; url=/console/">')
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  t.match(page.headers.getSetCookie().join('\n'), /reprise_session=[\w-]{43}; .*SameSite=Strict/)
  t.match(session, {
    user: { user_id: userId, role: 'MEMBER' },
    organization_id: organization.organizationId,
  })
  t.notOk(session.scopes.includes('admin:read'), 'a member has the scopes of a member')
  t.ok(session.scopes.includes('orchestrator:invoke'))
  const sessions = new URL('/api/external/sessions', app.url)
  t.equal((await fetch(sessions, { headers: { cookie } })).status, 200)
  t.match(await fetch(sessions, { headers: { cookie, origin: 'http://127.0.0.1:1' } }), {
    status: 403,
  })
  provider.becomes({ ...ann, email: 'other@example.com', email_verified: false })
  t.match((await signIn()).session, { user: { user_id: userId } })
  const events = await app.platform.events(organization.organizationId, 'ConsoleSessionStarted')
  t.match(events[0], { data: { method: 'openid', keyId: null } })
})

t.test('who has no account, or no verified address, is not signed in', async (t) => {
  const { provider, signIn } = await scene(t)
  for (const [person, status, code] of [
    [{ sub: 's-1', email: 'new@example.com', email_verified: true }, 403, 'account_not_found'],
    [{ sub: 's-2', email, email_verified: false }, 403, 'address_not_verified'],
    [{ sub: 's-3', email }, 403, 'address_not_verified'],
    [{ sub: 's-4' }, 403, 'address_not_verified'],
    [{ sub: 's-5', email: 'no address', email_verified: true }, 403, 'address_not_verified'],
  ] as const) {
    provider.becomes(person)
    const { page, session } = await signIn()
    t.match({ status: page.status, code: codeOf(page) }, { status, code })
    t.match(page.headers.get('content-type'), 'text/html')
    t.match(session, { detail: String }, 'no session')
  }
  provider.becomes(ann)
  t.equal((await signIn()).status, 200)
  provider.becomes({ ...ann, sub: 'whoever has the address now' })
  const { page } = await signIn()
  t.match({ status: page.status, code: codeOf(page) }, { status: 409, code: 'identity_conflict' })
})

t.test('an account without an organization is not signed in', async (t) => {
  const { app, provider, signIn } = await scene(t)
  await app.platform.ask('POST', '/identity/logins', {
    email: 'alone@example.com',
    provider: 'another',
    subject: 'alone',
  })
  provider.becomes({ sub: 's-6', email: 'alone@example.com', email_verified: true })
  const { page } = await signIn()
  t.equal(codeOf(page), 'organization_access_denied')
})

t.test('a callback works once, in the browser that began the sign-in', async (t) => {
  const { app, reach } = await scene(t)
  const first = await reach()
  const second = await reach()
  const failed = { status: 403, code: 'sign_in_failed' }
  const refusalOf = (page: Response) => ({ status: page.status, code: codeOf(page) })
  t.match(refusalOf(await cookieJar().get(first.callback)), failed, 'in another browser')
  t.match(refusalOf(await second.browser.get(first.callback)), failed, 'of another sign-in')
  const third = await reach()
  t.equal((await third.browser.get(third.callback)).status, 200)
  t.match(refusalOf(await third.browser.get(third.callback)), failed, 'once more')
  for (const change of [
    (url: URL) => url.searchParams.set('code', 'x'.repeat(43)),
    (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
    (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    (url: URL) => url.searchParams.delete('state'),
    (url: URL) => url.searchParams.set('error', 'access_denied'),
  ]) {
    const { browser, callback } = await reach()
    const url = new URL(callback)
    change(url)
    const page = await browser.get(url)
    t.match(refusalOf(page), failed, String(change))
    t.notMatch(page.headers.getSetCookie().join(), 'reprise_session')
  }
  t.ok(app)
})

t.test('a provider that is down is told so, and is asked again', async (t) => {
  const provider = await identityProvider(t)
  const app = await startApp(t, provider.env)
  const start = () => cookieJar().get(new URL('/console/openid', app.url))
  t.match(await start(), { status: 503 })
  provider.start(app.url)
  t.match(await start(), { status: 302 })
  const options = await fetch(new URL('/console/session/options', app.url))
  t.strictSame(await options.json(), { openid: true })
})

t.test('an idempotency key of one person is not that of another', async (t) => {
  const { app, organization, provider, signIn } = await scene(t)
  const first = await signIn()
  const other = 'bob@example.com'
  const at = `/organizations/${organization.organizationId}`
  await app.platform.ask('POST', `${at}/members`, { email: other })
  await app.platform.ask('POST', '/identity/logins', {
    email: other,
    provider: 'another',
    subject: 'of bob',
    accept: [{ organization_id: organization.organizationId }],
  })
  provider.becomes({ sub: 'subject-of-bob', email: other, email_verified: true })
  const second = await signIn()
  const makeKey = async ({ cookie, session }: typeof first) => {
    const reply = await fetch(new URL('/api/me/api-keys', app.url), {
      method: 'POST',
      headers: {
        cookie,
        origin: app.url,
        'x-csrf-token': session.csrf_token,
        'idempotency-key': 'the-same',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'Mine' }),
    })
    t.equal(reply.status, 201)
    return ((await reply.json()) as { key: string }).key
  }
  const key = await makeKey(first)
  t.not(await makeKey(second), key)
  t.equal(await makeKey(first), key)
})
