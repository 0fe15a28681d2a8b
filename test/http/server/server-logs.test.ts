import t from 'tap'
import { superAdminKey } from '../../support/platform.ts'
import { raw } from '../../support/raw.ts'
import { startServer } from '../../support/server.ts'

const chat = '/api/external/v1/chat/completions'

t.test('no key, credential, address or word of a message gets into the log', async (t) => {
  const providerKey = 'sk-provider-key-of-nobody'
  const server = await startServer(t, {
    LOG_LEVEL: 'trace',
    LLM_BASE_URL: 'http://127.0.0.1:1/v1',
    LLM_API_KEY: providerKey,
    LLM_MODEL: 'none',
  })
  const { url, platform } = server
  const organization = await platform.organization()
  const key = await organization.key({
    scopes: ['orchestrator:invoke', 'orchestrator:stream', 'sessions:read'],
  })
  const secret = 'marzipan'
  const messages = [{ role: 'user', content: `my secret is ${secret}` }]
  const ask = raw(url)
  const bearer = { authorization: `Bearer ${key.key}`, cookie: `session=${secret}` }
  const headers = { 'x-request-id': 'request-42' }
  await key.chat({ messages, session_id: `of-${secret}` }, { headers })
  await key.stream({ messages }).then((stream) => stream.reply.text())
  await key.sessions(`?on_behalf_of=${secret}&page=${secret}`)
  await ask(`/nothing/${secret}?token=${secret}`, { headers: bearer })
  await ask(`/api/external/%zz/${secret}`, { headers: bearer })
  await ask(`/api/external/sessions/${secret}/messages`, {
    headers: { 'x-api-key': `svc_live_${secret}` },
  })
  await ask(chat, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: `{"messages":"${secret}`,
  })
  await ask(chat, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'idempotency-key': secret },
    body: JSON.stringify({ messages }),
  })
  // Lines are written in pages; the stop writes the last one.
  t.equal(await server.stop(), 0)
  const log = server.output()
  t.ok(log.split('\n').length > 10)
  t.match(log, '"route":"/api/external/v1/chat/completions"')
  t.match(log, '"level":50', 'what failed is told')
  const causes = log.split('\n').filter((line) => line.includes('"msg":"a run failed"'))
  t.match(JSON.parse(causes[0] ?? ''), { reqId: 'request-42', err: { type: 'ModelUnavailable' } })
  const failed = log.split('\n').filter((line) => line.includes('"msg":"request failed"'))
  t.match(JSON.parse(failed[0] ?? ''), { reqId: 'request-42', code: 'llm_service_unavailable' })
  t.notOk('err' in JSON.parse(failed[0] ?? ''), 'the cause is told once')
  for (const word of [
    secret,
    key.key,
    key.key.slice(9),
    superAdminKey,
    providerKey,
    'Bearer',
    'example.com',
  ])
    t.notMatch(log, word)
})
