import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

/** docs/contract/requests.md#answers */
t.test('JSON answers end their line, and their length says so', async (t) => {
  const { key, server } = await startChat(t)
  const chat = '/api/external/v1/chat/completions'
  const mcp = '/api/external/mcp'
  const requests: readonly [number, string, unknown?, string?][] = [
    [200, '/api/health'],
    [200, '/api/openapi.json'],
    [200, '/api/external/sessions'],
    [200, chat, { messages: user('Hi') }],
    [400, chat, {}],
    [401, '/api/external/sessions', undefined, 'svc_live_none'],
    [404, '/api/external/nowhere'],
    [405, '/api/health', {}],
    [400, mcp, []],
    [406, mcp, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
  ]
  for (const [status, path, body, other = key.key] of requests) {
    const reply = await fetch(new URL(path, server.url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-api-key': other,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    t.equal(reply.status, status, path)
    t.match(text, /[^\n]\n$/, path)
    t.doesNotThrow(() => JSON.parse(text))
    const { length } = Buffer.from(text)
    t.equal(Number(reply.headers.get('content-length') ?? length), length, path)
  }
})

t.test('a repeated answer is the same, byte for byte', async (t) => {
  const { key, server } = await startChat(t)
  const ask = async () => {
    const reply = await fetch(new URL('/api/external/v1/chat/completions', server.url), {
      method: 'POST',
      headers: {
        'x-api-key': key.key,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify({ messages: user('Hi') }),
    })
    return reply.text()
  }
  const first = await ask()
  t.match(first, /\}\n$/)
  t.equal(await ask(), first)
})
