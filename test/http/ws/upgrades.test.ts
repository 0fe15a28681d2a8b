import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { user } from '../../support/client.ts'
import { raw } from '../../support/raw.ts'
import { startApp, startChat } from '../../support/server.ts'

const toWebSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
/** As Java's HttpClient asks with its first request. */
const toHttp2 = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
}

t.test('the channel without an upgrade: 426', async (t) => {
  const { url } = await startApp(t)
  const reply = await raw(url)('/ws/chat')
  t.equal(reply.status, 426)
  t.match(reply.headers, { upgrade: 'websocket', 'x-error-code': 'upgrade_required' })
  t.match(reply.body, { error: { type: 'invalid_request_error', code: 'upgrade_required' } })
  t.equal((await raw(url)('/ws/chat', { method: 'HEAD' })).status, 426)
  t.equal((await raw(url)('/ws/chat', { method: 'POST' })).status, 405)
})

t.test('a path that has no socket is unknown to an upgrade', async (t) => {
  const { server, key } = await startChat(t)
  const headers = { ...toWebSocket, 'x-api-key': key.key }
  const reply = await raw(server.url)('/api/external/v1/responses', { headers })
  t.match(reply, { status: 404, body: { error: { code: 'not_found' } } })
})

t.test('a refused upgrade is an ordinary refusal', async (t) => {
  const { url } = await startApp(t)
  const key = { 'x-api-key': 'nobody' }
  t.match(await raw(url)('/ws/chat', { headers: { ...toWebSocket, ...key } }), {
    status: 401,
    headers: { 'x-request-id': String, 'x-error-code': 'invalid_api_key' },
    body: { detail: 'Invalid or expired API key', error: { code: 'invalid_api_key' } },
  })
  const strict = await startApp(t, { REQUIRE_HTTPS: 'always' })
  t.match(await raw(strict.url)('/ws/chat/', { headers: toWebSocket }), {
    status: 403,
    body: { error: { code: 'https_required' } },
  })
})

t.test('an upgrade that is no handshake of WebSocket is not valid HTTP', async (t) => {
  const { url } = await startApp(t)
  const { 'sec-websocket-key': _, ...keyless } = toWebSocket
  for (const headers of [keyless, { ...toWebSocket, 'sec-websocket-version': '99' }])
    t.match(await raw(url)('/ws/chat', { headers }), {
      status: 400,
      headers: { 'x-request-id': String, 'x-error-code': 'malformed_request' },
      body: { error: { code: 'malformed_request' } },
    })
})

t.test('an upgrade that is not taken: the request is answered as it is', async (t) => {
  const { server, key } = await startChat(t, { text: 'Hello from the double.' })
  const ask = raw(server.url)
  const json = { 'x-api-key': key.key, 'content-type': 'application/json' }
  const long = 'x'.repeat(300_000)
  for (const content of ['Hi', long]) {
    const { status, body } = await ask('/api/external/v1/chat/completions', {
      method: 'POST',
      headers: { ...toHttp2, ...json },
      body: JSON.stringify({ messages: user(content) }),
    })
    t.equal(status, 200)
    t.equal(body.choices[0].message.content, 'Hello from the double.')
    const { messages } = (await key.messages(body.session_id)).body
    t.equal(messages[0].content, content, 'with its body')
  }
  t.equal((await ask('/api/health?x=1', { headers: toWebSocket })).body.status, 'ok')
  t.equal((await ask('/ws/chat', { headers: toHttp2 })).status, 426)
  t.equal((await ask('/ws/chats', { headers: toWebSocket })).status, 404)
  t.equal((await ask('/api/external/agents', { headers: toWebSocket })).status, 401)
})

t.test('and its connection goes on', async (t) => {
  const { url } = await startApp(t)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  const head = (more: string) => `GET /api/health HTTP/1.1\r\nHost: ${hostname}\r\n${more}\r\n`
  socket.write(head('Connection: Upgrade\r\nUpgrade: h2c\r\n') + head(''))
  socket.write(head('Connection: close\r\n'))
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  await once(socket, 'close')
  t.equal(answer.match(/HTTP\/1\.1 200 OK/g)?.length, 3)
})
