import { once } from 'node:events'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import { connectScene } from '../../support/connect-scene.ts'
import { partner } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

const value = 'sk-<never>&shown'
const returnUrl = 'https://partner.example/back?state=1&x=%22'

const call = (name: string, headers: Record<string, string>) => ({
  type: 'api_call',
  name,
  description: 'Calls a shop',
  method: 'GET',
  url: 'https://shop.example/',
  headers,
  parameters: { type: 'object' },
})

/** A squad that needs SHOP and MAP, and a user to connect it. */
const connecting = async (t: Test, env = {}) => {
  const all = await startApp(t, env)
  const base = await partner(all)
  const { at, owner, key, provisioned } = base
  const agent = async (settings: object) =>
    (await owner('POST', `${at}/agents`, settings)).body.agent_id as string
  const worker = await agent({
    name: 'Worker',
    tools: [
      'remember',
      call('shop', { authorization: 'Bearer {{credential:SHOP}}' }),
      call('fixed', { 'x-key': 'of the organization' }),
      call('bare', {}),
    ],
    mcp_servers: [
      { name: 'maps', url: 'https://maps.example/', headers: { 'x-key': '{{credential:MAP}}' } },
    ],
  })
  const root = await agent({ name: 'Root', agent_type: 'SEQUENTIAL_AGENT', sub_agents: [worker] })
  const idle = await agent({ name: 'Idle', tools: ['recall'] })
  const ask = await key('users:credentials')
  const user = await provisioned('ann@example.com')
  const link = async (body: object = {}) =>
    ask('POST', `${user.path}/connect-links`, {
      agent_id: root,
      return_url: returnUrl,
      ...body,
    })
  const { http } = all
  const open = (url: string) => http.inject({ method: 'GET', url: new URL(url).pathname })
  const submit = (url: string, fields: Record<string, string>, more = '') =>
    http.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: [new URLSearchParams(fields), more].join('&'),
    })
  const csrfOf = (html: string) => /name="csrf" value="([0-9a-f]+)"/.exec(html)?.[1] ?? ''
  return { ...all, ...base, agent, root, idle, ask, user, link, open, submit, csrfOf }
}

const skipped = [
  { name: 'remember', reason: 'provided_by_system' },
  { name: 'fixed', reason: 'provided_by_organization' },
  { name: 'bare', reason: 'no_credential_schema' },
]
const itemsWith = (map: boolean, shop: boolean) => [
  { name: 'MAP', kind: 'mcp_server', connected: map },
  { name: 'SHOP', kind: 'api_call', connected: shop },
]

t.test('a link, its page, and what is connected then', async (t) => {
  const { ask, user, root, link, open, submit, csrfOf, at, owner } = await connecting(t)
  const created = await link()
  t.match(created, {
    status: 201,
    body: { link_id: String, url: /\/connect\/[\w-]{43}$/, expires_at: String },
  })
  t.strictSame(created.body.items, itemsWith(false, false))
  t.strictSame(created.body.skipped, skipped)
  const left = Date.parse(created.body.expires_at) - Date.now()
  t.ok(left > 29 * 60_000 && left <= 30 * 60_000, '30 minutes')
  const { url } = created.body

  const page = await open(url)
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
  })
  const policy = String(page.headers['content-security-policy'])
  t.match(policy, /^default-src 'none'; style-src 'sha256-/)
  t.match(policy, "form-action 'self' https://partner.example; base-uri 'none'")
  t.notMatch(page.body, '<script')
  t.match(page.body, '<meta name="viewport"')
  t.match(page.body, 'href="https://partner.example/back?state=1&amp;x=%22"')
  for (const name of ['MAP', 'SHOP']) {
    t.match(page.body, `<label for="${name}">`)
    t.match(page.body, new RegExp(`id="${name}" name="${name}" type="password" autocomplete="off"`))
  }

  const csrf = csrfOf(page.body)
  for (const forged of ['', 'x'.repeat(64)])
    t.equal((await submit(url, { csrf: forged, SHOP: value })).statusCode, 403)
  const refused = await submit(url, { csrf, SHOP: 'é', MAP: ' ' })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'aria-describedby="SHOP-state SHOP-hint SHOP-error" aria-invalid="true"')
  t.equal((await submit(url, { csrf })).statusCode, 400, 'nothing entered')
  const status = `${user.path}/connect-status?agent_id=${root}`
  t.strictSame((await ask('GET', status)).body, { items: itemsWith(false, false), skipped })

  const first = await submit(url, { csrf, SHOP: value, MAP: '', OTHER: 'ignored' })
  t.equal(first.statusCode, 303)
  t.equal(first.headers.location, new URL(url).pathname, 'until all is connected')
  t.strictSame((await ask('GET', status)).body, { items: itemsWith(false, true), skipped })
  const again = await open(url)
  t.match(again.body, '1 of 2 connected')
  t.notMatch(again.body, /sk-/)
  const second = await submit(url, { csrf, MAP: value })
  t.equal(second.statusCode, 303)
  t.equal(second.headers.location, 'https://partner.example/back?state=1&x=%22&status=connected')
  t.strictSame((await ask('GET', status)).body, { items: itemsWith(true, true), skipped })
  t.match(await ask('GET', `${user.path}/credentials`), { body: { total: 2 } })

  const { events } = (await owner('GET', `${at}/audit/events?type=CredentialStored`)).body
  t.match(events[0].metadata, { actor: { key_id: null, user_id: user.user_id } })
  const [, token = ''] = url.split('/connect/')
  t.notMatch(JSON.stringify((await owner('GET', `${at}/audit/events`)).body), token)
})

t.test('past, revoked and unknown links answer alike', async (t) => {
  const { ask, user, link, open, submit, csrfOf } = await connecting(t)
  const urls = [(await link()).body.url, (await link()).body.url]
  const csrf = csrfOf((await open(urls[0])).body)
  const links = `${user.path}/connect-links`
  t.match(await ask('DELETE', links), { status: 200, body: { revoked: 2 } })
  t.match(await ask('DELETE', links), { status: 200, body: { revoked: 0 } })
  const unknown = await open('http://localhost/connect/unknown')
  t.equal(unknown.statusCode, 404)
  for (const url of [...urls, `http://localhost/connect/${'x'.repeat(200)}`]) {
    const page = await open(url)
    t.equal(page.statusCode, 404)
    t.equal(page.body, unknown.body)
    t.equal((await submit(url, { csrf, SHOP: value })).body, unknown.body)
  }
  t.match(await ask('GET', `${user.path}/credentials`), { body: { total: 0 } })
})

t.test('limit connect link lifetime: 30 minutes, and for a user who is still one', async (t) => {
  const { agent, link, clock, organization, server, user_id, connected } = await connectScene(t)
  const agent_id = await agent('SHOP')
  const url = await link(agent_id)
  const page = await fetch(url)
  t.equal(page.status, 200)
  const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(await page.text())?.[1] ?? ''
  const submit = () =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ csrf, SHOP: 'x' }) })
  clock.advance(29 * 60_000)
  t.equal((await fetch(url)).status, 200)
  clock.advance(60_000)
  t.equal((await fetch(url)).status, 404)
  t.equal((await submit()).status, 404)
  t.strictSame(await connected(agent_id), { SHOP: false })
  const next = await link(agent_id)
  const at = `/organizations/${organization.organizationId}/members/${user_id}`
  await server.platform.ask('DELETE', at)
  t.equal((await fetch(next)).status, 404, 'removed')
  const members = `/organizations/${organization.organizationId}/members`
  await server.platform.ask('POST', members, { email: 'ann@example.com' })
  t.equal((await fetch(next)).status, 404, 'invited, and the partner’s no more')
})

t.test('revoked by many at once, each link is counted once', async (t) => {
  const { ask, user, link } = await connecting(t)
  for (let n = 0; n < 3; n++) await link()
  const revoke = () => ask('DELETE', `${user.path}/connect-links`)
  const replies = await Promise.all([revoke(), revoke(), revoke()])
  t.equal(
    replies.reduce((sum, { body }) => sum + body.revoked, 0),
    3,
  )
})

t.test('limit items of one kind on a connect page: 20', async (t) => {
  const { agent, link } = await connecting(t)
  const tools = Array.from({ length: 22 }, (_, n) =>
    call(`c${n}`, { 'x-key': `{{credential:C_${String(n).padStart(2, '0')}}}` }),
  )
  const { body } = await link({ agent_id: await agent({ name: 'Many', tools }) })
  t.equal(body.items.length, 20)
  t.strictSame(body.skipped, [
    { name: 'C_20', reason: 'too_many_items' },
    { name: 'C_21', reason: 'too_many_items' },
  ])
})

t.test('the name of an organization cannot break the page', async (t) => {
  const { at, owner, link, open } = await connecting(t, { PUBLIC_URL: 'https://api.example/' })
  await owner('PATCH', at, { name: '<script>alert(1)</script>' })
  const { url } = (await link({ return_url: 'http://localhost:8080/back' })).body
  t.match(url, /^https:\/\/api\.example\/connect\//)
  const { body } = await open(url)
  t.match(body, '&lt;script&gt;')
  t.notMatch(body, '<script>')
})

t.test('refusals', async (t) => {
  const { link, idle, ask, user, owner, at, http } = await connecting(t)
  const nothing = [{ name: 'recall', reason: 'provided_by_system' }]
  t.match(await link({ agent_id: idle }), {
    status: 400,
    code: 'nothing_to_connect',
    body: { detail: String, skipped: nothing },
  })
  t.match(await ask('GET', `${user.path}/connect-status?agent_id=${idle}`), {
    body: { items: [], skipped: nothing },
  })
  t.match(await link({ agent_id: 'nobody' }), {
    status: 404,
    code: 'agent_not_found',
    body: { detail: String },
  })
  for (const url of ['http://partner.example/', 'javascript:alert(1)', '/back', 'https://a:b@c.d/'])
    t.match(await link({ return_url: url }), {
      status: 400,
      body: { detail: [{ loc: ['body', 'return_url'] }] },
    })
  const invited = await owner('POST', `${at}/members`, { email: 'invited@example.com' })
  const other = `/api/external/management/users/${invited.body.user_id}/connect-links`
  t.match(await ask('DELETE', other), { status: 403, code: 'not_provisioned' })
  t.match(await owner('DELETE', other), { status: 403, code: 'insufficient_scopes' })
  const path = new URL((await link()).body.url).pathname
  const json = (url: string) => ({ method: 'POST', url, payload: { csrf: '' } }) as const
  t.equal((await http.inject(json(path))).statusCode, 415)
  t.equal((await http.inject(json('/connect/unknown'))).statusCode, 404)
})

t.test('a form for an unknown link is refused before it arrives', async (t) => {
  const { url } = await connecting(t)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 900_000 }
  const upload = request(`${url}/connect/unknown`, { method: 'POST', headers })
  upload.on('error', () => undefined)
  upload.flushHeaders()
  const [answer] = await once(upload, 'response')
  t.equal(answer.statusCode, 404)
  upload.destroy()
})

t.test('a form of invalid escapes, or with many fields, is scanned once', async (t) => {
  const { link, open, submit, csrfOf } = await connecting(t)
  const { url } = (await link()).body
  const csrf = csrfOf((await open(url)).body)
  const sent = (payload: string) =>
    open(url).then(() => submit(url, { csrf, SHOP: value }, payload))
  let decoded = 0
  const { decodeURIComponent: original } = globalThis
  t.teardown(() => {
    globalThis.decodeURIComponent = original
  })
  globalThis.decodeURIComponent = (text) => {
    decoded++
    return original(text)
  }
  const cases: [string, number][] = [
    [`x=${'%'.repeat(900_000)}`, 303],
    ['a=%zz&'.repeat(100_000), 400],
  ]
  for (const [more, status] of cases) {
    decoded = 0
    t.equal((await sent(more)).statusCode, status)
    t.ok(decoded < 500, `${decoded} texts are decoded`)
  }
})
