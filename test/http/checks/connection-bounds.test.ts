import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import Fastify from 'fastify'
import t from 'tap'
import { boundConnection } from '../../../src/http/checks/connection-bounds.ts'
import { sendFrames } from '../../../src/http/streams/sse.ts'
import { bufferBudget } from '../../../src/support/buffer-budget.ts'
import { eventually } from '../../support/eventually.ts'
import { superAdminKey } from '../../support/platform.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const mebibyte = 1024 * 1024

const opened = async (url: string) => {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const requestsFor = (path: string, times: number): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(times)

/** Reads so many answers with a body of a known size. */
const answersIn = async (socket: Awaited<ReturnType<typeof opened>>, count: number) => {
  let seen = 0
  let rest = ''
  for await (const bytes of socket) {
    rest += bytes.toString('latin1')
    const parts = rest.split('HTTP/1.1 200')
    seen += parts.length - 1
    rest = (parts.at(-1) ?? '').slice(-20)
    if (seen >= count) return seen
  }
  return seen
}

/** A server that counts what has begun; each answer is as long as asked. */
const counting = async (
  t: Parameters<typeof startApp>[0],
  ...bounds: Parameters<typeof boundConnection>
) => {
  const aborted: (string | undefined)[] = []
  const bound = boundConnection(...bounds)
  const http = Fastify({
    forceCloseConnections: true,
    serverFactory: (handle) =>
      createServer((request, response) => {
        request.on('error', ({ stack }) => aborted.push(stack))
        bound(request, response, handle)
      }),
  })
  const releases: (() => void)[] = []
  /** Paths of the requests that have begun. */
  const order: string[] = []
  let open = 0
  let connections = 0
  http.addHook('onRequest', ({ url }, _reply, done) => {
    order.push(url)
    done()
  })
  http.get('/held', (_request, reply) => {
    releases.push(() => reply.send('held'))
  })
  http.get('/frames', (_request, reply) => {
    async function* endless() {
      for (;;) yield 'frame'.repeat(1_000)
    }
    return sendFrames(reply, endless(), {})
  })
  http.get('/quick', (_request, reply) => {
    reply.send('quick')
  })
  http.get('/large', (_request, reply) => {
    setImmediate(() => reply.send('x'.repeat(mebibyte)))
  })
  http.get('/stream', (_request, reply) => {
    open++
    const stream = new Readable({ read: () => stream.push('more') })
    stream.once('close', () => open--)
    reply.send(stream)
  })
  /** As a file that is opened before it is sent. */
  http.get('/late', (_request, reply) => {
    open++
    releases.push(() => {
      const stream = new Readable({ read: () => stream.push('more') })
      stream.once('close', () => open--)
      reply.send(stream)
    })
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  http.server.on('connection', () => connections++)
  t.teardown(() => http.close())
  const connected = () =>
    new Promise<number>((resolve, reject) =>
      http.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  return {
    url,
    releases,
    begun: () => order.length,
    order: () => order,
    open: () => open,
    connected,
    accepted: () => connections,
    aborted: () => aborted,
  }
}

/** The looks at connections, each when the test says so. */
const looks = () => {
  let look: (() => Promise<void>) | undefined
  return {
    ticks: (given: () => Promise<void>) => {
      look = given
      return () => {
        look = undefined
      }
    },
    look: async (times: number) => {
      for (let n = 0; n < times; n++) await look?.()
    },
    /** Whether there is any connection to look at. */
    isOn: () => look !== undefined,
  }
}

t.test('a connection has 32 requests in flight, and all are answered in the end', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  const count = 10_000
  socket.write(requestsFor('/held', count))
  await eventually(async () => server.begun() >= 32)
  // Another connection is not concerned, and its answer shows that the first was read meanwhile.
  const other = await opened(server.url)
  other.write(requestsFor('/large', 1))
  t.equal(await answersIn(other, 1), 1)
  t.equal(server.begun(), 32 + 1)
  const seen = answersIn(socket, count)
  const drain = new Promise<void>((resolve) => {
    const end = () => {
      for (const release of server.releases.splice(0)) release()
      if (server.begun() < count || server.releases.length > 0) setImmediate(end)
      else resolve()
    }
    end()
  })
  t.equal(await seen, count)
  await drain
})

/** The most by which a count grows in one turn of the event loop, until it is asked for. */
const mostInATurn = (count: () => number) => {
  let before = count()
  let most = 0
  let turn = setImmediate(function look() {
    most = Math.max(most, count() - before)
    before = count()
    turn = setImmediate(look)
  })
  return (): number => {
    clearImmediate(turn)
    return most
  }
}

/** Connections that the server has accepted. */
const openedMany = async (
  { url, accepted }: { url: string; accepted(): number },
  count: number,
) => {
  const before = accepted()
  const sockets = await Promise.all(Array.from({ length: count }, () => opened(url)))
  await eventually(async () => accepted() === before + count)
  return sockets
}

/** Counts what Node publishes on one of its channels. */
const published = (t: Parameters<typeof startApp>[0], channel: string) => {
  let count = 0
  const add = () => count++
  subscribe(channel, add)
  t.teardown(() => unsubscribe(channel, add))
  return () => count
}

t.test('waiting requests begin over many turns of the event loop, not in one', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  const count = 3_000
  const most = mostInATurn(server.begun)
  socket.write(requestsFor('/quick', count))
  t.equal(await answersIn(socket, count), count)
  t.ok(most() <= 4 * 32, `${most()} requests began in one turn`)
  socket.destroy()
})

t.test(
  '200 connections with 60 requests: all firsts begin at once, further ones a few in a turn',
  async (t) => {
    const server = await counting(t)
    const sockets = await openedMany(server, 200)
    const most = mostInATurn(server.begun)
    for (const socket of sockets) socket.write(requestsFor('/quick', 60))
    await Promise.all(sockets.map((socket) => answersIn(socket, 60)))
    t.equal(server.begun(), 200 * 60)
    t.ok(most() <= 200 + 2 * 8, `${most()} requests began in one turn`)
    for (const socket of sockets) socket.destroy()
  },
)

t.test('connections take turns: one request waits for one of each other connection', async (t) => {
  const server = await counting(t)
  const [other, ...sockets] = await openedMany(server, 101)
  if (!other) throw new Error('no connection')
  for (const socket of sockets) socket.write(requestsFor('/quick', 40))
  other.write(requestsFor('/large', 1))
  const answers = answersIn(other, 1)
  await eventually(async () => server.order().includes('/large'))
  const before = server.order().indexOf('/large')
  t.ok(before <= 2 * 100 + 2 * 8, `${before} requests began before`)
  t.equal(await answers, 1)
  for (const socket of [...sockets, other]) socket.destroy()
})

t.test('64 requests of a connection wait, and all of one read on four in a second', async (t) => {
  const { ticks, look } = looks()
  const buffers = bufferBudget(1_000 * mebibyte)
  const server = await counting(t, undefined, { buffers, ticks })
  const pipelined = async (count: number) => {
    const before = server.accepted()
    const socket = await opened(server.url)
    socket.on('error', () => undefined)
    socket.write(requestsFor('/quick', count))
    await eventually(async () => server.accepted() > before)
    return socket
  }
  const other = await pipelined(1)
  for (let n = 0; n < 4; n++) t.equal(await answersIn(await pipelined(1_000), 1_000), 1_000)
  const fifth = await pipelined(1_000)
  await once(fifth.resume(), 'close')
  t.equal(buffers.dropped(), 1)
  t.ok(server.begun() < 4_100, `${server.begun()} requests began`)
  t.equal(await answersIn(await pipelined(64), 64), 64, 'few may always wait')
  await look(1)
  t.equal(await answersIn(await pipelined(1_000), 1_000), 1_000, 'a second later')
  other.destroy()
})

t.test('answers that are not read: no request begins beyond 4 MB', async (t) => {
  const server = await counting(t, { inFlight: 2, unsent: 4 * mebibyte })
  const socket = await opened(server.url)
  socket.pause()
  socket.write(requestsFor('/large', 500))
  let before = -1
  await eventually(async () => {
    const same = server.begun() === before && before > 0
    before = server.begun()
    return same
  })
  t.ok(server.begun() < 50, `${server.begun()} of 500 were begun`)
  t.equal(await answersIn(socket, 500), 500)
})

t.test('requests that wait behind another answer are closed with their connection', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  socket.write(requestsFor('/stream', 100))
  await eventually(async () => server.open() === 32)
  socket.destroy()
  await eventually(async () => server.open() === 0)
  t.equal(server.begun(), 32, 'what waited never begins')
})

t.test('requests of a connection that closes are aborted without stacks', async (t) => {
  const server = await counting(t, undefined, { buffers: bufferBudget(mebibyte) })
  const limit = Error.stackTraceLimit
  const socket = await opened(server.url)
  socket.on('error', () => undefined)
  socket.write(requestsFor('/held', 1_000))
  await eventually(async () => server.aborted().length > 0)
  t.strictSame([...new Set(server.aborted())], ['Error: aborted'])
  t.equal(Error.stackTraceLimit, limit)
})

t.test('all connections share a budget of requests that wait: the newest are closed', async (t) => {
  const most = 40 * mebibyte
  const buffers = bufferBudget(most)
  const server = await counting(t, undefined, { buffers })
  const count = 20
  const each = 1_500
  for (let n = 0; n < count; n++) {
    const socket = await opened(server.url)
    socket.on('error', () => undefined)
    socket.write(requestsFor('/held', each))
    await eventually(async () => server.accepted() > n)
  }
  const other = await opened(server.url)
  other.write(requestsFor('/quick', 1))
  t.equal(await answersIn(other, 1), 1, 'a client that does not pipeline is answered')
  await eventually(async () => (await server.connected()) <= 4)
  t.ok(buffers.dropped() >= count - 4, `${buffers.dropped()} connections were closed`)
  t.ok(buffers.held() <= most, `${buffers.held()} bytes`)
})

t.test('all connections share a budget of answers that are not read', async (t) => {
  const most = 20 * mebibyte
  const buffers = bufferBudget(most)
  const { ticks, look } = looks()
  const server = await counting(t, undefined, { buffers, ticks })
  const count = 12
  for (let n = 0; n < count; n++) {
    const socket = await opened(server.url)
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(requestsFor('/large', 20))
  }
  await eventually(async () => {
    await look(1)
    return buffers.dropped() > 0 && server.accepted() === count
  })
  t.ok(buffers.held() <= most, `${buffers.held()} bytes`)
  const other = await opened(server.url)
  other.write(requestsFor('/large', 1))
  t.equal(await answersIn(other, 1), 1, 'a client that reads is answered')
})

for (const path of ['/large', '/stream', '/frames'])
  t.test(`a connection that reads nothing for 60 looks is closed: ${path}`, async (t) => {
    const { ticks, look, isOn } = looks()
    const server = await counting(t, undefined, { ticks })
    const socket = await opened(server.url)
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(requestsFor(path, 40))
    await eventually(async () => {
      await look(1)
      return server.begun() > 0
    })
    await look(40)
    t.equal(await server.connected(), 1)
    // It reads all that has reached it, so that more is sent.
    let read = 0
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      read += bytes.length
      if (read > 16 * mebibyte) break
    }
    await look(50)
    t.equal(await server.connected(), 1, 'it has read meanwhile')
    await look(20)
    await eventually(async () => (await server.connected()) === 0)
    await eventually(async () => !isOn())
    t.pass('nobody is looked at any more')
  })

t.test('a connection with nothing to read stays open', async (t) => {
  const { ticks, look } = looks()
  const server = await counting(t, undefined, { ticks })
  const socket = await opened(server.url)
  socket.write(requestsFor('/held', 1))
  await eventually(async () => server.begun() === 1)
  await look(200)
  for (const end of server.releases) end()
  t.equal(await answersIn(socket, 1), 1)
})

for (const [status, head] of [
  [200, 'GET /api/health HTTP/1.1'],
  [401, 'GET /api/external/account HTTP/1.1'],
  [404, 'GET /unknown HTTP/1.1'],
  [200, `GET /api/admin/organizations HTTP/1.1\r\nX-API-Key: ${superAdminKey}`],
] as const)
  t.test(
    `200 connections that pipeline: few are answered in a turn: ${head} (${status})`,
    async (t) => {
      const { url } = await startApp(t)
      const accepted = published(t, 'net.server.socket')
      const sockets = await openedMany({ url, accepted }, 200)
      const most = mostInATurn(published(t, 'http.server.response.finish'))
      const firsts = sockets.map(async (socket) => {
        socket.write(`${head}\r\nHost: a\r\n\r\n`.repeat(5))
        const [bytes] = await once(socket, 'data')
        return String(bytes).slice(0, 12)
      })
      t.strictSame([...new Set(await Promise.all(firsts))], [`HTTP/1.1 ${status}`])
      t.ok(most() <= 200 + 4 * 8, `${most()} requests were answered in one turn`)
      for (const socket of sockets) socket.destroy()
    },
  )

t.test(
  'a stream that is sent on an answer behind others, after the disconnect, is destroyed',
  async (t) => {
    const server = await counting(t)
    const socket = await opened(server.url)
    socket.write(requestsFor('/late', 3))
    await eventually(async () => server.releases.length === 3)
    socket.destroy()
    await eventually(async () => (await server.connected()) === 0)
    for (const end of server.releases) end()
    await eventually(async () => server.open() === 0)
    t.equal(server.open(), 0)
  },
)

t.test('without a key: openapi.json and /docs by the thousand', async (t) => {
  const { url } = await startApp(t)
  const document = await raw(url)('/api/openapi.json')
  const { etag = '' } = document.headers
  t.match(await raw(url)('/api/openapi.json', { headers: { 'if-none-match': etag } }), {
    status: 304,
    text: '',
  })
  const files = () => readdirSync('/proc/self/fd').length
  const before = files()
  const sockets = []
  for (const path of [
    '/api/openapi.json',
    '/docs/static/swagger-ui-bundle.js',
    '/docs/static/swagger-ui.css',
  ]) {
    const socket = await opened(url)
    socket.pause()
    socket.write(requestsFor(path, 1_300))
    sockets.push(socket)
  }
  t.match(await raw(url)('/api/health'), { status: 200 })
  t.ok(files() - before < 150, `${files() - before} descriptors`)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => files() <= before)
  t.pass('every descriptor is closed')
})
