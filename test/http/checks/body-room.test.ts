import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { bodyRoom, forgetBody } from '../../../src/http/checks/body-room.ts'
import type { Access } from '../../../src/security/access.ts'
import { eventually } from '../../support/eventually.ts'

const large = 'x'.repeat(1_100_000)

/** A server that holds each body until it is told to go on; `x-org` says whose it is. */
const holding = async (t: Test, bounds: Parameters<typeof bodyRoom>[0]) => {
  const http = Fastify({ bodyLimit: 4_000_000 })
  const held: { org: string; go: () => void; forget: () => void }[] = []
  http.decorateRequest('forgetBody', forgetBody)
  http.addHook('onRequest', async (request) => {
    request.access = { organizationId: String(request.headers['x-org']) } as Access
  })
  http.addHook('preParsing', bodyRoom(bounds))
  http.post('/', { config: { largeBody: true } }, async (request) => {
    const { length } = String(request.body)
    const org = request.access.organizationId
    await new Promise<void>((go) => {
      held.push({ org, go, forget: () => request.forgetBody() })
    })
    return { length, left: request.body === undefined }
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const post = async (org: string, body = large) => {
    const headers = { 'content-type': 'text/plain', 'x-org': org }
    const reply = await fetch(url, { method: 'POST', headers, body })
    return reply.json()
  }
  const until = (count: number) => eventually(async () => held.length >= count)
  return { url, held, post, until }
}

t.test('large bodies wait for room, organizations in turn; small ones never', async (t) => {
  const { held, post, until } = await holding(t, { places: 2 })
  const first = ['a', 'a', 'a'].map((org) => post(org))
  await until(1)
  const other = post('b')
  await until(2)
  t.strictSame(
    held.map(({ org }) => org),
    ['a', 'b'],
    'one organization never has all places',
  )
  const small = post('a', 'x')
  await until(3)
  held[2]?.go()
  t.match(await small, { length: 1 })
  held[0]?.forget()
  await until(4)
  t.equal(held[3]?.org, 'a', 'a body that is forgotten makes room while its request goes on')
  held[0]?.go()
  t.match(await first[0], { length: large.length, left: true })
  held[1]?.go()
  held[3]?.go()
  await until(5)
  held[4]?.go()
  t.match(await Promise.all([...first, other]), Array(4).fill({ length: large.length }))
})

t.test('who goes away, or is too slow, gives up the place', async (t) => {
  const { url, held, post, until } = await holding(t, { places: 2, arriveMs: 200 })
  const { port } = new URL(url)
  const slow = async (org: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => undefined)
    const head = `POST / HTTP/1.1\r\nHost: a\r\nX-Org: ${org}\r\nContent-Type: text/plain\r\n`
    socket.write(`${head}Content-Length: 2000000\r\n\r\nsome`)
    return socket
  }
  const [gone, late] = [await slow('a'), await slow('b')]
  const waiting = post('a')
  gone.destroy()
  await until(1)
  t.equal(held[0]?.org, 'a')
  await once(late, 'close')
  held[0]?.go()
  t.match(await waiting, { length: large.length })
  const more = post('b')
  await until(2)
  held[1]?.go()
  t.match(await more, { length: large.length })
})
