import { execFileSync } from 'node:child_process'
import { request } from 'node:https'
import { json } from 'node:stream/consumers'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { configFrom } from '../../../src/config.ts'
import { requireHttps, tlsFrom } from '../../../src/http/checks/https.ts'
import { replyWith } from '../../../src/http/errors/reply.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

type Peer = { remoteAddress: string; headers?: Record<string, string> }

/** Whether a request from that peer passes. */
const passing = (t: Test, env: Record<string, string>) => {
  const { TRUST_PROXY, REQUIRE_HTTPS } = configFrom(env)
  const http = Fastify({ trustProxy: TRUST_PROXY })
  http.addHook('onRequest', requireHttps(REQUIRE_HTTPS))
  http.setErrorHandler((error, incoming, reply) => replyWith(incoming, reply, error))
  http.get('/', async () => 'fine')
  t.teardown(() => http.close())
  return async (peer: Peer) => {
    const { statusCode, headers } = await http.inject({ url: '/', ...peer })
    if (statusCode !== 200) t.match(headers, { 'x-error-code': 'https_required' })
    return statusCode === 200
  }
}

const far = '203.0.113.9'
const https = { 'x-forwarded-proto': 'https' }
const http = { 'x-forwarded-proto': 'http' }
const forwarded = (proto: object) => ({ 'x-forwarded-for': far, ...proto })

t.test(
  'address, trusted proxy and REQUIRE_HTTPS decide which requests may come without TLS',
  async (t) => {
    const cases: [Record<string, string>, Peer, boolean][] = [
      [{}, { remoteAddress: '127.0.0.1' }, true],
      [{}, { remoteAddress: '127.8.8.8' }, true],
      [{}, { remoteAddress: '::1' }, true],
      [{}, { remoteAddress: '::ffff:127.0.0.1' }, true],
      [{}, { remoteAddress: far }, false],
      [{}, { remoteAddress: `::ffff:${far}` }, false],
      [{}, { remoteAddress: '::11' }, false],
      [{}, { remoteAddress: '10.127.0.1' }, false],
      [{}, { remoteAddress: far, headers: https }, false],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: far, headers: https }, true],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: far, headers: http }, false],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: far }, false],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: '127.0.0.1', headers: forwarded(https) }, true],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: '127.0.0.1', headers: forwarded(http) }, false],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: '127.0.0.1', headers: forwarded({}) }, false],
      [{ TRUST_PROXY: 'on' }, { remoteAddress: '127.0.0.1' }, true],
      [{ TRUST_PROXY: '10.0.0.0/8' }, { remoteAddress: '10.1.2.3', headers: https }, true],
      [{ TRUST_PROXY: '10.0.0.0/8' }, { remoteAddress: far, headers: https }, false],
      [
        { TRUST_PROXY: 'loopback' },
        { remoteAddress: '127.0.0.1', headers: forwarded(https) },
        true,
      ],
      [{ REQUIRE_HTTPS: 'always' }, { remoteAddress: '127.0.0.1' }, false],
      [{ REQUIRE_HTTPS: 'always' }, { remoteAddress: '::1' }, false],
      [{ REQUIRE_HTTPS: 'always' }, { remoteAddress: '127.0.0.1', headers: https }, false],
      [
        { REQUIRE_HTTPS: 'always', TRUST_PROXY: 'on' },
        { remoteAddress: '127.0.0.1', headers: https },
        true,
      ],
      [
        { REQUIRE_HTTPS: 'always', TRUST_PROXY: 'on' },
        { remoteAddress: '127.0.0.1', headers: http },
        false,
      ],
      [{ REQUIRE_HTTPS: 'off' }, { remoteAddress: far }, true],
    ]
    for (const [env, peer, expected] of cases)
      t.equal(await passing(t, env)(peer), expected, JSON.stringify({ env, peer }))
  },
)

t.test('the refusal comes before everything else, and open routes stay open', async (t) => {
  const { url } = await startApp(t, { REQUIRE_HTTPS: 'always' })
  const ask = raw(url)
  for (const path of [
    '/api/external/sessions',
    '/api/external/rag/uploads',
    '/api/external/management/users',
    '/api/external/nothing',
    '/api/me/api-keys',
  ]) {
    const { status, headers, body } = await ask(path)
    t.match(headers, { 'x-error-code': 'https_required', 'x-request-id': String })
    t.equal(status, 403)
    t.strictSame(body, {
      error: {
        message: 'HTTPS is required',
        type: 'invalid_request_error',
        code: 'https_required',
      },
    })
  }
  t.match(await ask('/api/health'), { status: 200 })
})

t.test('the server ends TLS itself', async (t) => {
  const path = t.testdir()
  const [cert, key] = [`${path}/cert.pem`, `${path}/key.pem`]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'].concat(
      ['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
      ['-out', cert, '-keyout', key],
    ),
    { stdio: 'ignore' },
  )
  const env = { TLS_CERT: cert, TLS_KEY: key, REQUIRE_HTTPS: 'always' }
  const tls = tlsFrom(env)
  t.ok(tls)
  const { url } = await startApp(t, env)
  t.match(url, /^https:/)
  const get = (path: string) =>
    new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
      request(new URL(path, url), { ca: tls?.cert ?? '', agent: false }, (reply) => {
        json(reply).then((body) => resolve({ status: reply.statusCode, body }), reject)
      })
        .on('error', reject)
        .end()
    })
  t.match(await get('/api/health'), { status: 200, body: { status: 'ok' } })
  t.match(await get('/api/external/sessions'), { status: 401 }, 'secure enough to be asked who')
})
