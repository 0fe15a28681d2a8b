import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { browser, fitsWidth, needsChromium, screenshot, sends } from '../support/browser.ts'
import { identityProvider } from '../support/identity-provider.ts'
import { newFolder, startApp } from '../support/server.ts'

// A script in a page has no limit of its own.
t.setTimeout(180_000)

const index = '<!doctype html><link rel="icon" href="data:,"><title>Built</title>'

const scene = async (t: Test, env: Record<string, string> = {}) => {
  const consoleFolder = join(await newFolder(t), 'console')
  await mkdir(join(consoleFolder, 'assets'), { recursive: true })
  await writeFile(join(consoleFolder, 'index.html'), index)
  const app = await startApp(t, env, { consoleFolder })
  return { app, ...(await browser(t)) }
}

/** A page of another port: for cookies, the same site. */
const otherPort = async (t: Test) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const run = <Result>(page: Page, script: string): Promise<Result> => page.evaluate(script)

const statusOf = (page: Page, path: string, init = {}): Promise<number> =>
  run(page, `fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(({ status }) => status)`)

t.test(
  'the one-time link signs a browser in, and other pages gain nothing',
  needsChromium,
  async (t) => {
    const { app, page: open } = await scene(t, { CORS_ORIGINS: '*' })
    const demo = await app.demo()
    if (!demo) throw new Error('there is no demo')
    const { page, context, complaints } = await open()
    await page.goto(app.url + demo.welcomePath)
    t.ok(await fitsWidth(page))
    await screenshot(page, 'console-welcome')
    t.equal(await sends(page, () => page.getByRole('button').click()), 303)
    t.equal(await page.title(), 'Built')
    t.equal(new URL(page.url()).pathname, '/console/')
    t.equal(await statusOf(page, '/console/session'), 200)
    t.equal(await run(page, 'document.cookie'), '', 'no script reads the cookie')
    const at = `/api/admin/organizations/${demo.organizationId}`
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    t.equal(await statusOf(page, `${at}/agents`, init), 403, 'without the CSRF token')
    const [cookie] = await context.cookies()
    t.match(cookie, { httpOnly: true, sameSite: 'Strict', secure: false, path: '/' })

    const evil = await context.newPage()
    await evil.goto(await otherPort(t))
    const foreign = (path: string, init: object) =>
      run<string>(
        evil,
        `fetch(${JSON.stringify(app.url + path)}, ${JSON.stringify({ credentials: 'include', ...init })})
        .then((reply) => reply.type === 'opaque' ? 'opaque' : 'read', () => 'blocked')`,
      )
    t.equal(await foreign(at, {}), 'blocked', 'no answer is read')
    t.equal(await foreign('/console/session', {}), 'blocked')
    t.equal(await foreign('/console/session', { method: 'DELETE' }), 'blocked')
    t.equal(await foreign('/console/session', { method: 'DELETE', mode: 'no-cors' }), 'blocked')
    t.equal(
      await run(
        evil,
        `new Promise((resolve) => {
        const socket = new WebSocket(${JSON.stringify(`${app.url.replace('http', 'ws')}/ws/chat`)})
        socket.onopen = () => resolve('open')
        socket.onerror = () => resolve('refused')
      })`,
      ),
      'refused',
    )
    await run(
      evil,
      `new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.src = ${JSON.stringify(`${app.url}/console/`)}
      frame.onload = resolve
      document.body.append(frame)
    })`,
    )
    const [, frame] = evil.frames()
    t.not(await frame?.title().catch(() => ''), 'Built', 'the console is in no frame')
    t.equal(await statusOf(page, '/console/session'), 200, 'the session goes on')
    t.strictSame(
      complaints.filter((words) => !/403/.test(words)),
      [],
    )
  },
)

t.test(
  'a browser that comes back from the identity provider is signed in',
  needsChromium,
  async (t) => {
    const provider = await identityProvider(t)
    const { app, page: open } = await scene(t, provider.env)
    const organization = await app.platform.organization()
    const email = 'ann@example.com'
    await app.platform.ask('POST', `/organizations/${organization.organizationId}/members`, {
      email,
    })
    await app.platform.ask('POST', '/identity/logins', {
      email,
      provider: 'another',
      subject: 'ann',
      accept: [{ organization_id: organization.organizationId }],
    })
    // Another host than the provider's: another site.
    const url = app.url.replace('127.0.0.1', 'localhost')
    provider.start(url)
    provider.becomes({ sub: 'ann', email, email_verified: true })
    const { page, complaints } = await open()
    await page.goto(`${url}/console/openid`)
    await page.waitForURL(`${url}/console/`)
    t.equal(await page.title(), 'Built')
    t.equal(await statusOf(page, '/console/session'), 200)
    t.strictSame(complaints, [])
  },
)
