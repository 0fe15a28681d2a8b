import t, { type Test } from 'tap'
import { user } from '../../support/client.ts'
import { raw } from '../../support/raw.ts'
import { startChat } from '../../support/server.ts'

const page = 'https://app.example'
const chat = '/api/external/v1/chat/completions'

const preflight = (origin: string, more: Record<string, string> = {}) => ({
  method: 'OPTIONS',
  headers: {
    host: 'a',
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    ...more,
  },
})

const started = async (t: Test, CORS_ORIGINS?: string) => {
  const { server, key, organization } = await startChat(
    t,
    undefined,
    undefined,
    CORS_ORIGINS === undefined ? {} : { CORS_ORIGINS },
  )
  return { ask: raw(server.url), key, organization, server }
}

t.test('a preflight of an allowed origin is answered without a key', async (t) => {
  const { ask } = await started(t, `${page}, http://localhost:5173`)
  for (const origin of [page, 'http://localhost:5173'])
    for (const path of [chat, '/api/external/v1/models', '/api/admin/organizations']) {
      const { status, headers, text } = await ask(path, preflight(origin))
      t.equal(status, 204)
      t.equal(text, '')
      t.match(headers, {
        'access-control-allow-origin': origin,
        'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
        'access-control-max-age': '600',
      })
      t.strictSame(headers['access-control-allow-methods']?.split(', '), [
        ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      ])
      t.strictSame(
        headers.vary?.split(', ').map((name) => name.toLowerCase()),
        ['origin', 'access-control-request-headers'],
      )
      t.notOk('access-control-allow-credentials' in headers, 'a key is no cookie')
    }
})

t.test('an answer to an allowed origin says so, whether it is good or bad', async (t) => {
  const { ask, key } = await started(t, page)
  const headers = { host: 'a', origin: page, 'content-type': 'application/json' }
  const body = JSON.stringify({ messages: user('Hi') })
  const good = { ...headers, 'x-api-key': key.key }
  const stream = JSON.stringify({ messages: user('Hi'), stream: true })
  const { 'content-type': _, ...plain } = good
  for (const [response, status] of [
    [ask(chat, { method: 'POST', headers: good, body }), 200],
    [ask(chat, { method: 'POST', headers: good, body: stream }), 200],
    [ask(chat, { method: 'POST', headers, body }), 401],
    [ask(chat, { method: 'POST', headers: good, body: '{' }), 400],
    [ask('/api/external/none', { headers: plain }), 404],
    [ask(chat, { headers: plain }), 405],
  ] as const) {
    const answer = await response
    t.equal(answer.status, status)
    t.equal(answer.headers['access-control-allow-origin'], page)
    t.match(answer.headers.vary, /origin/i)
    const exposed = answer.headers['access-control-expose-headers']?.split(', ') ?? []
    for (const name of ['x-request-id', 'x-error-code', 'retry-after', 'x-ratelimit-remaining'])
      t.ok(exposed.includes(name), name)
    for (const name of Object.keys(answer.headers))
      if (name.startsWith('x-') && name !== 'x-content-type-options' && !name.startsWith('x-accel'))
        t.ok(exposed.includes(name), name)
  }
})

t.test('other origins are told nothing, and pages for people neither', async (t) => {
  const { ask } = await started(t, page)
  const others = [
    ...['https://evil.example', 'null', `${page}.evil.example`, 'http://app.example'],
    ...[`${page}:443`, `${page}/`],
  ]
  for (const origin of others) {
    const answer = await ask(chat, preflight(origin))
    t.notOk(answer.status < 300, origin)
    t.match(answer.headers.vary, /origin/i, 'a cache keeps it for this origin only')
    t.notOk('access-control-allow-origin' in answer.headers, origin)
  }
  for (const path of ['/connect/x', '/docs', '/metrics', '/'])
    t.notOk(
      'access-control-allow-origin' in (await ask(path, preflight(page))).headers,
      `${path} is not the API`,
    )
  const plain = await ask('/api/health', { method: 'OPTIONS', headers: { host: 'a' } })
  t.equal(plain.status, 405)
  t.equal(plain.headers['x-error-code'], 'method_not_allowed')
  t.equal(plain.headers.allow, 'GET, HEAD')
})

t.test('without CORS_ORIGINS no answer has such a header; * means any', async (t) => {
  const none = await started(t)
  const answer = await none.ask('/api/health', { headers: { host: 'a', origin: page } })
  t.strictSame(
    Object.keys(answer.headers).filter((name) => /^(?:access-control-|vary$)/.test(name)),
    [],
  )
  t.equal((await none.ask(chat, preflight(page))).status, 401)
  const any = await started(t, '*')
  const { status, headers } = await any.ask(chat, preflight('http://localhost:1'))
  t.equal(status, 204)
  t.equal(headers['access-control-allow-origin'], 'http://localhost:1')
})

t.test('preflights without end cost no key, no count and no event', async (t) => {
  const { ask, key, organization, server } = await started(t, page)
  const head = async () => (await key.ask('GET', '/api/external/v1/models')).headers
  const before = Number((await head()).get('x-ratelimit-remaining-minute'))
  const audit = `/organizations/${organization.organizationId}/audit/events`
  /** All but what is written every few seconds of how much a key was used. */
  const events = async () => {
    const { events: all } = await server.platform.ask('GET', audit)
    return all.filter(({ type }: { type: string }) => type !== 'ApiKeyUsed').length
  }
  const had = await events()
  const long = 'x-h,'.repeat(3_000)
  for (let n = 0; n < 200; n++) {
    const more = { 'access-control-request-headers': long, 'x-api-key': key.key }
    t.equal((await ask(chat, preflight(page, more))).status, 204)
  }
  t.equal(Number((await head()).get('x-ratelimit-remaining-minute')), before - 1)
  t.equal(await events(), had)
})
