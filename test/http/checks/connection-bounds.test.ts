import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import Fastify from 'fastify'
import t from 'tap'
import { boundConnection } from '../../../src/http/checks/connection-bounds.ts'
import { eventually } from '../../support/eventually.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const mebibyte = 1024 * 1024

const opened = async (url: string) => {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const asking = (path: string, times: number): string =>
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
  bounds?: Parameters<typeof boundConnection>[0],
) => {
  const http = Fastify()
  const ends: (() => void)[] = []
  let begun = 0
  let open = 0
  http.addHook('onRequest', boundConnection(bounds))
  http.get('/held', (_request, reply) => {
    begun++
    ends.push(() => reply.send('held'))
  })
  http.get('/quick', (_request, reply) => {
    begun++
    reply.send('quick')
  })
  http.get('/large', (_request, reply) => {
    begun++
    setImmediate(() => reply.send('x'.repeat(mebibyte)))
  })
  http.get('/stream', (_request, reply) => {
    begun++
    open++
    const stream = new Readable({ read: () => stream.push('more') })
    stream.once('close', () => open--)
    reply.send(stream)
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  return { url, ends, begun: () => begun, open: () => open }
}

t.test('a connection has 32 requests in flight, and all are answered in the end', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  const count = 10_000
  socket.write(asking('/held', count))
  await eventually(async () => server.begun() >= 32)
  // Another connection is not concerned, and its answer shows that the first was read meanwhile.
  const other = await opened(server.url)
  other.write(asking('/large', 1))
  t.equal(await answersIn(other, 1), 1)
  t.equal(server.begun(), 32 + 1)
  const seen = answersIn(socket, count)
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      for (const one of server.ends.splice(0)) one()
      if (server.begun() < count || server.ends.length > 0) setImmediate(end)
      else resolve()
    }
    end()
  })
  t.equal(await seen, count)
  await ended
})

t.test('what waits begins in many turns of the event loop, not in one', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  const count = 3_000
  let before = 0
  let most = 0
  let turn = setImmediate(function look() {
    most = Math.max(most, server.begun() - before)
    before = server.begun()
    turn = setImmediate(look)
  })
  socket.write(asking('/quick', count))
  t.equal(await answersIn(socket, count), count)
  clearImmediate(turn)
  t.ok(most <= 4 * 32, `${most} requests began in one turn`)
  socket.destroy()
})

t.test('answers that are not read: no request begins beyond 4 MB', async (t) => {
  const server = await counting(t, { inFlight: 2, unsent: 4 * mebibyte })
  const socket = await opened(server.url)
  socket.pause()
  socket.write(asking('/large', 500))
  let before = -1
  await eventually(async () => {
    const same = server.begun() === before && before > 0
    before = server.begun()
    return same
  })
  t.ok(server.begun() < 50, `${server.begun()} of 500 were begun`)
  t.equal(await answersIn(socket, 500), 500)
})

t.test('what waits behind another answer is closed with its connection', async (t) => {
  const server = await counting(t)
  const socket = await opened(server.url)
  socket.write(asking('/stream', 100))
  await eventually(async () => server.open() === 32)
  socket.destroy()
  await eventually(async () => server.open() === 0)
  t.equal(server.begun(), 32, 'what waited never begins')
})

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
    socket.write(asking(path, 1_300))
    sockets.push(socket)
  }
  t.match(await raw(url)('/api/health'), { status: 200 })
  t.ok(files() - before < 150, `${files() - before} descriptors`)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => files() <= before)
  t.pass('every descriptor is closed')
})
