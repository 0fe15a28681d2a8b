import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { mock } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { v7 as uuid } from 'uuid'
import type { AgentEvent, TurnDone } from '../../../src/agents/agent-event.ts'
import { refusal } from '../../../src/domain/refusal.ts'
import { wsChatRoutes } from '../../../src/http/routes/ws-chat.ts'
import type { Upload } from '../../../src/http/ws/answers.ts'
import type { SocketTimes } from '../../../src/http/ws/connection.ts'
import type { Access } from '../../../src/security/access.ts'
import { watchAccess } from '../../../src/security/watch-access.ts'
import type { LiveTurn } from '../../../src/turns/turn.ts'
import { turnItems } from '../../../src/turns/turn-items.ts'
import { channelOf, connect, type Sent } from '../../support/socket.ts'
import { turnsOf } from '../../support/turns-of.ts'

const access: Access = {
  kind: 'organization',
  keyId: 'key-1',
  organizationId: 'org-1',
  userId: 'user-1',
  role: 'OWNER',
  scopes: new Set(['orchestrator:invoke', 'orchestrator:stream', 'rag:upload']),
  keyScopes: new Set(['orchestrator:invoke', 'orchestrator:stream', 'rag:upload']),
  limits: { minute: 100, hour: 1_000 },
  plan: 'pro_monthly',
}
const key = { 'x-api-key': 'any' }
const timestamp = '2026-01-01T00:00:00.000Z'

const done: TurnDone = {
  event: 'done',
  text: 'all',
  agent: 'Orchestrator',
  finish_reason: 'stop',
  usage: { promptTokens: 1, completionTokens: 2 },
  charges: [],
}

/** A turn that has ended with these events. */
const turnOf = (events: readonly AgentEvent[]): LiveTurn => {
  const items = turnItems()
  for (const event of [...events, done]) items.push(event)
  items.close()
  const turn: LiveTurn = {
    runId: 'run-1',
    sessionId: 'session-1',
    organizationId: 'org-1',
    agentId: undefined,
    created: 0,
    items,
    started: Promise.resolve().then(() => turn),
    outcome: Promise.resolve({ status: 'completed', done }),
    cancel: () => undefined,
  }
  return turn
}

type Given = { events?: readonly AgentEvent[]; upload?: Upload; times?: Partial<SocketTimes> }

/** The channel by itself: whatever is asked is answered with the given events. */
const channel = async (t: Test, { events = [], upload, times }: Given) => {
  const http = Fastify()
  http.setSerializerCompiler(() => JSON.stringify)
  http.decorateRequest('access')
  http.decorateRequest('call')
  const counted: Access[] = []
  const routes = wsChatRoutes({
    findAccess: () => access,
    watchAccess: watchAccess(() => access),
    admit: () => undefined,
    counted: (frame) => counted.push(frame),
    refused: () => undefined,
    countRefusal: () => undefined,
    beginTurn: async () => turnOf(events),
    clock: { now: () => new Date(timestamp), monotonic: () => 0, id: uuid },
    boundConnection: (request, response, handle) => handle(request, response),
    requireOrigin: () => undefined,
    requireHttps: (_request, _reply, next) => next(),
    times,
    ...(upload ? { upload } : {}),
  })
  await routes(http, {})
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  /** The server's end of the only socket. */
  const served = () => {
    const [socket] = http.websocketServer.clients
    if (!socket) throw new Error('nobody is connected')
    return socket
  }
  return { url, counted, served }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await soon()
}

const step_id = 'step-1'
const piece = 'x'.repeat(10_000)
const many = Array.from({ length: 3_000 }, (_, n): AgentEvent => {
  const text = `${n} ${piece}`
  return { event: 'token', agent: 'Orchestrator', step_id, text }
})

t.test('a slow reader loses nothing and costs a bounded amount of memory', async (t) => {
  const { url, served } = await channel(t, { events: many })
  const socket = await connect(url, key)
  await socket.next()
  socket.send({ type: 'message', content: 'Much' })
  await socket.until('stream_token')
  socket.ws.pause()
  await until(() => served().bufferedAmount > 65_536)
  let most = 0
  for (let n = 0; n < 1_000; n++) {
    await soon()
    most = Math.max(most, served().bufferedAmount)
  }
  t.ok(most < 65_536 + 11_000, `${most} bytes wait for the client`)
  t.equal(served().isPaused, false, 'and it is still listened to')
  socket.ws.resume()
  const rest = await socket.until('stream_complete')
  const numbers = rest.flatMap(({ token }) => (token ? [Number.parseInt(token, 10)] : []))
  t.strictSame(
    numbers,
    Array.from({ length: many.length - 1 }, (_, n) => n + 1),
  )
  socket.close()
})

/** The server's end of a socket whose client has stopped to read in the middle of an answer. */
const unread = async (t: Test, close: number) => {
  const { url, served } = await channel(t, { events: many, times: { unread: 50, close } })
  const socket = await connect(url, key)
  const server = served()
  socket.send({ type: 'message', content: 'Much' })
  await socket.until('stream_token')
  socket.ws.pause()
  return { server, socket }
}

t.test('a client that reads nothing for too long is closed with 1013', async (t) => {
  const { server, socket } = await unread(t, 60_000)
  await until(() => server.readyState === server.CLOSING)
  socket.ws.resume()
  t.match(await socket.closed, { code: 1013, reason: /not read/ })
})

t.test('and let go when it does not even read that', async (t) => {
  const { server, socket } = await unread(t, 10)
  await t.resolves(once(server, 'close'))
  socket.ws.terminate()
})

t.test('a client that sends and never reads is no longer read', async (t) => {
  const { url, served } = await channel(t, {})
  const socket = await connect(url, key)
  await socket.next()
  socket.ws.pause()
  const own = { id: 'i'.repeat(128), session_id: 's'.repeat(128) }
  const sendMore = async () => {
    if (socket.ws.bufferedAmount < 1_000_000)
      for (let n = 0; n < 1_000; n++) socket.send({ type: 'ping', ...own })
    await soon()
  }
  while (!served().isPaused || served().bufferedAmount <= 65_536) await sendMore()
  for (let n = 0; n < 200; n++) await sendMore()
  t.equal(served().isPaused, true)
  t.ok(served().bufferedAmount < 500_000, `${served().bufferedAmount} bytes wait for the client`)
  socket.ws.resume()
  await socket.until('pong')
  socket.ws.terminate()
  await socket.closed
})

/** A client that upgrades and then does nothing that a client should. */
const connectMute = async (url: string) => {
  const { hostname, port, pathname } = channelOf(url)
  const socket = connectTcp(Number(port), hostname)
  const head = [
    `GET ${pathname} HTTP/1.1`,
    `Host: ${hostname}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'X-API-Key: any',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  return socket
}

const flood = 2_000

for (const kind of ['ping', 'pong'] as const)
  t.test(`many frames at once, a ${kind} each, take as many turns of the event loop`, async (t) => {
    const { url, served } = await channel(t, {})
    const { ws, next, send } = await connect(url, key)
    await next()
    let seen = 0
    served().on(kind, () => seen++)
    const turns = await turnsOf(async () => {
      for (let n = 0; n < flood; n++) ws[kind]()
      send({ type: 'ping' })
      t.equal((await next()).type, 'pong')
    })
    t.equal(seen, flood)
    t.ok(turns >= flood, `${turns} turns`)
    ws.close()
  })

t.test('many messages at once take as many turns of the event loop', async (t) => {
  const { url } = await channel(t, {})
  const { ws, next, send } = await connect(url, key)
  await next()
  const turns = await turnsOf(async () => {
    for (let n = 0; n < flood; n++) send({ type: 'ping' })
    for (let n = 0; n < flood; n++) t.equal((await next()).type, 'pong')
  })
  t.ok(turns >= flood, `${turns} turns`)
  ws.close()
})

t.test('a peer that gives no sign of life is dropped, any other is kept', async (t) => {
  const { url, served } = await channel(t, {})
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const socket = await connect(url, key)
  const server = served()
  const close = once(await connectMute(url), 'close')
  await socket.next()
  for (let beat = 0; beat < 3; beat++) {
    const pong = once(server, 'pong')
    mock.timers.tick(30_000)
    await pong
  }
  await close
  socket.send({ type: 'ping' })
  t.equal((await socket.next()).type, 'pong')
  socket.close()
})

t.test('every step of a turn that the API document names', async (t) => {
  const agent_name = 'Concierge'
  const at = '0'
  const tool = { tool_name: 'search', tool_id: 'call_1', agent_name }
  const result = {
    outcome: 'ok',
    content: 'secret',
    duration_ms: 1,
    reached: { host: 'h' },
  } as const
  const payment = {
    message: 'Pay',
    agent_name,
    nonce: 'n',
    network: 'base',
    total_amount: '0.01',
  }
  const events: AgentEvent[] = [
    { event: 'agent_routing', at, from_agent: 'Orchestrator', to_agent: agent_name, timestamp },
    { event: 'token_agent', agent: agent_name, timestamp },
    { event: 'tool_started', at, ...tool, effect: 'read', arguments: '{"secret":1}' },
    { event: 'tool_completed', at, ...tool, ...result, ok: true },
    { event: 'payment_required', ...payment },
    { event: 'token', agent: agent_name, step_id, text: 'Hi' },
  ]
  const { url } = await channel(t, { events })
  const socket = await connect(url, key)
  await socket.next()
  socket.send({ type: 'message', content: 'Hi', id: 1 })
  const own = { id: 1, session_id: 'session-1' }
  t.strictSame(await socket.until('stream_complete'), [
    { type: 'agent_routing', from: 'Orchestrator', to: agent_name, timestamp, ...own },
    { type: 'token_agent', agent: agent_name, timestamp, ...own },
    { type: 'tool_started', ...tool, ...own },
    { type: 'tool_completed', ...tool, ok: true, ...own },
    { type: 'payment_required', ...payment, ...own },
    { type: 'stream_token', token: 'Hi', ...own },
    {
      type: 'stream_complete',
      content: 'all',
      finish_reason: 'stop',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      ...own,
    },
  ])
  socket.close()
})

t.test('a file: what became of it, or why not', async (t) => {
  const uploads: unknown[] = []
  const upload: Upload = async ({ call }, file) => {
    if (file.filename === 'a.exe') throw refusal('invalid_input', { field: 'filename' })
    uploads.push({ organizationId: call.organizationId, ...file })
    const { filename, datastoreId: datastore_id } = file
    const base = { upload_id: 'upload-1', filename, datastore_id, error_message: null }
    return (async function* () {
      for (const status of ['processing', 'indexing', 'completed'] as const)
        yield { ...base, status }
    })()
  }
  const { url, counted } = await channel(t, { upload })
  const socket = await connect(url, key)
  await socket.next()
  const file = { type: 'file', datastore_id: 'd-1', filename: 'a.txt', content: 'aGk=' }
  socket.send({ ...file, id: 'f' })
  const seen = await socket.until('file_status', ({ status }) => status === 'completed')
  t.strictSame(
    seen.map(({ id, status, filename }: Sent) => [id, status, filename]),
    ['processing', 'indexing', 'completed'].map((status) => ['f', status, 'a.txt']),
  )
  t.strictSame(uploads, [
    {
      organizationId: 'org-1',
      datastoreId: 'd-1',
      filename: 'a.txt',
      content: 'aGk=',
      contentType: undefined,
      onBehalfOf: undefined,
    },
  ])
  socket.send({ ...file, filename: 'a.exe', id: 'g' })
  t.match(await socket.next(), { id: 'g', error: { code: 'invalid_input', param: 'filename' } })
  socket.send({ ...file, content: undefined })
  t.match(await socket.next(), { error: { code: 'missing_required_field', param: 'content' } })
  t.equal(counted.length, 3, 'a file counts as one request')
  socket.close()
})
