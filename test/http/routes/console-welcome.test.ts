import t, { type Test } from 'tap'
import { browsing, cookieIn, origin } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { movableClock, startApp, startServer } from '../../support/server.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
/** What browsers send with the form of a page without a referrer. */
const ownForm = { ...form, origin: 'null', 'sec-fetch-site': 'same-origin' }

const scene = async (t: Test) => {
  const clock = movableClock()
  const app = await startApp(t, {}, { clock })
  const demo = await app.demo()
  if (!demo) throw new Error('no demo was made')
  return { app, clock, ...demo, browse: browsing(app) }
}

t.test('the link’s page shows a button, which signs in once', async (t) => {
  const { app, organizationId, welcomePath, browse } = await scene(t)
  for (let n = 0; n < 3; n++) {
    const page = await browse('GET', welcomePath)
    t.match(page, {
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': /frame-ancestors 'none'/,
      },
      text: /<form method="post">/,
    })
    t.notOk(page.headers['set-cookie'], 'a preview signs nobody in')
    t.notMatch(page.text, '<script')
  }
  const signedIn = await browse('POST', welcomePath, ownForm, '')
  t.match(signedIn, {
    status: 303,
    headers: { location: '/console/', 'set-cookie': /^reprise_session=[\w-]{43}; / },
  })
  const cookie = cookieIn(signedIn)
  const path = `/api/admin/organizations/${organizationId}`
  t.match(await browse('GET', path, { cookie }), { status: 200 })
  t.match(await browse('GET', '/console/session', { cookie }), {
    body: { organization_id: organizationId, user: { role: 'OWNER' } },
  })
  const again = await browse('POST', welcomePath, ownForm, '')
  t.match(again, { status: 404, code: 'welcome_link_not_found' })
  const used = await browse('GET', welcomePath)
  const unknown = await browse('GET', `/console/welcome/${'a'.repeat(43)}`)
  t.match(used, { status: 404, headers: { 'referrer-policy': 'no-referrer' } })
  t.equal(used.text, unknown.text, 'used and unknown links answer alike')
  const events = await app.platform.events(organizationId)
  const types = events.map(({ type }: { type: string }) => type)
  t.strictSame(
    types.filter((type: string) => /Console|Welcome/.test(type)),
    ['WelcomeLinkCreated', 'WelcomeLinkUsed', 'ConsoleSessionStarted'],
  )
  t.notOk(JSON.stringify(events).includes(welcomePath.slice(-43)), 'the token is in no event')
})

t.test('two clicks at once sign in once', async (t) => {
  const { welcomePath, browse } = await scene(t)
  const click = () => browse('POST', welcomePath, ownForm, '')
  const statuses = (await Promise.all([click(), click()])).map(({ status }) => status)
  t.strictSame(statuses.toSorted(), [303, 404])
})

t.test('a form of another page signs nobody in', async (t) => {
  const { welcomePath, browse } = await scene(t)
  for (const headers of [
    form,
    { ...form, origin: 'http://console.example:8080' },
    { ...form, origin: 'null' },
    { ...form, origin: 'null', 'sec-fetch-site': 'same-site' },
    { ...form, origin: 'null', 'sec-fetch-site': 'cross-site' },
  ])
    t.match(await browse('POST', welcomePath, headers, ''), {
      status: 403,
      code: 'origin_not_allowed',
    })
  t.match(await browse('POST', welcomePath, { ...form, origin }, ''), { status: 303 })
})

t.test('a link expires after an hour', async (t) => {
  const { clock, welcomePath, browse } = await scene(t)
  clock.advance(3_600_000)
  t.match(await browse('GET', welcomePath), { status: 404 })
  t.match(await browse('POST', welcomePath, ownForm, ''), { status: 404 })
})

t.test('guesses of links are limited, as other sign-ins are', async (t) => {
  const { browse } = await scene(t)
  const guess = (n: number) => browse('GET', `/console/welcome/${'a'.repeat(41)}${n + 10}`)
  for (let n = 0; n < 60; n++) t.match(await guess(n), { status: 404 })
  t.match(await guess(60), { status: 429, headers: { 'retry-after': '60' } })
})

t.test('the token is left out of logs', async (t) => {
  const server = await startServer(t, { DEMO: 'on', LOG_LEVEL: 'trace' })
  const greeting = () => /\/console\/welcome\/([\w-]{43})\n/.exec(server.output())?.[1]
  const token = await eventually(async () => greeting())
  const url = new URL(`/console/welcome/${token}`, server.url)
  t.equal((await fetch(url)).status, 200)
  const headers = { ...form, origin: new URL(server.url).origin }
  const post = () => fetch(url, { method: 'POST', headers, redirect: 'manual' })
  t.strictSame([(await post()).status, (await post()).status], [303, 404])
  await server.stop()
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.includes(token))
  t.equal(lines.length, 1, 'only where it was printed')
  t.match(lines[0], /^ {2}http:/)
})
