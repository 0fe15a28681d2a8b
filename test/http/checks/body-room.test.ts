import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { bodyRoom, forgetBody } from '../../../src/http/checks/body-room.ts'
import { parseJson } from '../../../src/http/checks/validate.ts'
import type { Access } from '../../../src/security/access.ts'
import { eventually } from '../../support/eventually.ts'
import { allRag } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'

const length = 1_100_000
const large = JSON.stringify('x'.repeat(length))
/** Room for two bodies of that size, one of them of one organization. */
const forTwo = { bytes: 2_500_000, bytesOfOne: 1_200_000 }

/** A server that holds each body until it is told to go on; `x-org` says whose it is. */
const holding = async (t: Test, bounds: Parameters<typeof bodyRoom>[0]) => {
  const http = Fastify({ bodyLimit: 4_000_000 })
  const held: { org: string; identity: Buffer | undefined; go: () => void; forget: () => void }[] =
    []
  http.decorateRequest('forgetBody', forgetBody)
  http.decorateRequest('enterRoom')
  http.addHook('onRequest', async (request) => {
    request.access = { organizationId: String(request.headers['x-org']) } as Access
  })
  parseJson(http)
  http.addHook('preParsing', bodyRoom(bounds))
  http.post('/', async (request) => {
    const { length } = String(request.body)
    const org = request.access.organizationId
    const identity = request.bodyIdentity
    await new Promise<void>((go) => {
      held.push({ org, identity, go, forget: () => request.forgetBody() })
    })
    return { length, left: request.body === undefined }
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const post = async (org: string, body = large) => {
    const headers = { 'content-type': 'application/json', 'x-org': org }
    const reply = await fetch(url, { method: 'POST', headers, body })
    return reply.json()
  }
  const postChunked = async (org: string, parts: readonly string[]) => {
    const headers = { 'content-type': 'application/json', 'x-org': org }
    const body = Readable.toWeb(Readable.from(parts.map((part) => Buffer.from(part))))
    const request = { method: 'POST', headers, body, duplex: 'half' }
    const reply = await fetch(url, request as RequestInit)
    return reply.json()
  }
  const until = (count: number) => eventually(async () => held.length >= count)
  return { url, held, post, postChunked, until }
}

t.test('large bodies wait for room, organizations in turn; small ones never', async (t) => {
  const { held, post, until } = await holding(t, forTwo)
  const first = ['a', 'a', 'a'].map((org) => post(org))
  await until(1)
  const other = post('b')
  await until(2)
  t.strictSame(
    held.map(({ org }) => org),
    ['a', 'b'],
    'one organization never has all of it',
  )
  const small = post('a', '"x"')
  await until(3)
  held[2]?.go()
  t.match(await small, { length: 1 })
  held[0]?.forget()
  await until(4)
  t.equal(held[3]?.org, 'a', 'a body that is forgotten makes room while its request goes on')
  held[0]?.go()
  t.match(await first[0], { length, left: true })
  held[1]?.go()
  held[3]?.go()
  await until(5)
  held[4]?.go()
  t.match(await Promise.all([...first, other]), Array(4).fill({ length }))
})

t.test(
  'a body that is announced to be larger than its route takes is refused at once',
  async (t) => {
    const { post } = await holding(t, forTwo)
    const refused = await post('a', JSON.stringify('x'.repeat(4_000_000)))
    t.match(refused, { code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
  },
)

t.test('bodies without a length wait for room once 1 MB of them has come', async (t) => {
  const { held, post, postChunked, until } = await holding(t, forTwo)
  const parts = ['"', ...Array<string>(11).fill('x'.repeat(100_000)), '"']
  const first = post('a')
  await until(1)
  const small = postChunked('a', ['"', 'x', '"'])
  await until(2)
  held[1]?.go()
  t.match(await small, { length: 1 }, 'a small one needs none')
  const second = postChunked('a', parts)
  const other = post('b')
  await until(3)
  t.equal(held[2]?.org, 'b')
  held[0]?.go()
  held[2]?.go()
  await until(4)
  t.equal(held[3]?.org, 'a')
  held[3]?.go()
  t.match(await Promise.all([first, second, other]), Array(3).fill({ length }))
  const tooLarge = await postChunked('a', Array<string>(41).fill('x'.repeat(100_000)))
  t.match(tooLarge, { code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
})

t.test('of a large body only what was parsed stays, and a digest', async (t) => {
  const { url, held, post, until } = await holding(t, undefined)
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const buffers = () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const body = Buffer.from(JSON.stringify('x'.repeat(3_500_000)))
  const other = Buffer.from(JSON.stringify(`${'x'.repeat(3_499_999)}y`))
  // Written as they are: other clients copy what they send.
  const send = async (bytes: Buffer) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nX-Org: a\r\nContent-Type: application/json\r\n'
    socket.write(`${head}Content-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`)
    socket.write(bytes)
    return socket
  }
  const small = post('a', '"x"')
  await until(1)
  held[0]?.go()
  await small
  const before = buffers()
  const sockets = [await send(body), await send(body), await send(other)]
  await until(4)
  await eventually(async () => buffers() - before < body.length)
  const identities = held.slice(1).map(({ identity }) => identity?.toString('hex'))
  t.equal(identities[0]?.length, 64, 'a digest')
  t.equal(new Set(identities).size, 2, 'of other bytes another one')
  for (const { go } of held) go()
  for (const socket of sockets) {
    const [answer] = await once(socket, 'data')
    t.match(String(answer), /^HTTP\/1\.1 200 /)
  }
})

t.test('a client that leaves or is too slow gives up its place', async (t) => {
  const { url, held, post, until } = await holding(t, { ...forTwo, arriveMs: 200 })
  const { port } = new URL(url)
  const slow = async (org: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => undefined)
    const head = `POST / HTTP/1.1\r\nHost: a\r\nX-Org: ${org}\r\nContent-Type: application/json\r\n`
    socket.write(`${head}Content-Length: 2000000\r\n\r\nsome`)
    return socket
  }
  const [early, late] = [await slow('a'), await slow('b')]
  const waiting = post('a')
  early.destroy()
  await until(1)
  t.equal(held[0]?.org, 'a')
  await once(late, 'close')
  held[0]?.go()
  t.match(await waiting, { length })
  const more = post('b')
  await until(2)
  held[1]?.go()
  t.match(await more, { length })
})

t.test('bodies for unknown paths are not read', async (t) => {
  const { url } = await holding(t, undefined)
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const head = 'POST /unknown HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  socket.write(`${head}Content-Length: 4000000\r\n\r\n{`)
  const [answer] = await once(socket, 'data')
  t.match(String(answer), /^HTTP\/1\.1 404 /)
  socket.destroy()
})

t.test('every route under a key shares the room', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const key = await organization.key({ scopes: allRag })
  const path = '/api/external/rag/datastores'
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const fields = `Host: a\r\nX-API-Key: ${key.key}\r\nContent-Type: application/json\r\n`
  const head = `POST ${path} HTTP/1.1\r\n${fields}Content-Length: 10000000\r\n`
  socket.write(`${head}Expect: 100-continue\r\n\r\n`)
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /)
  await key.ask('GET', path)
  let isAnswered = false
  const name = 'x'.repeat(9_000_000)
  const other = key.ask('POST', path, { name }).then((reply) => {
    isAnswered = true
    return reply
  })
  for (let n = 0; n < 20; n++) await key.ask('GET', path)
  t.notOk(isAnswered, 'it is not read while another has the room')
  socket.destroy()
  t.equal((await other).status, 400)
})
