import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { guardedOutbound, type Resolve } from '../../../src/adapters/outbound/guarded.ts'
import { json, web } from '../../support/web.ts'

const answers =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

/** URLs that hide where they lead; the port is that of a server that would answer. */
const hostile = (port: number): readonly string[] => [
  `https://127.0.0.1:${port}/`,
  `https://127.1:${port}/`,
  `https://127.0.0.1.:${port}/`,
  `https://2130706433:${port}/`,
  `https://017700000001:${port}/`,
  `https://0177.0.0.1:${port}/`,
  `https://0x7f000001:${port}/`,
  `https://0x7f.0.0.0x1:${port}/`,
  `https://%31%32%37%2e%30%2e%30%2e%31:${port}/`,
  `https://１２７.０.０.１:${port}/`,
  `https://①②⑦.⓪.⓪.①:${port}/`,
  `https://127。0。0。1:${port}/`,
  `https://0/`,
  `https://0.0.0.0:${port}/`,
  `https://[::1]:${port}/`,
  `https://[::]:${port}/`,
  `https://[0:0:0:0:0:0:0:1]:${port}/`,
  `https://[::ffff:127.0.0.1]:${port}/`,
  `https://[::ffff:7f00:1]:${port}/`,
  `https://[::127.0.0.1]:${port}/`,
  `https://[64:ff9b::127.0.0.1]:${port}/`,
  `https://[2002:7f00:1::]:${port}/`,
  `https://[fe80::1]:${port}/`,
  `https://[fd00:ec2::254]/latest/meta-data/`,
  `https://169.254.169.254/latest/meta-data/`,
  `https://2852039166/latest/meta-data/`,
  `https://100.100.100.200/`,
  `https://10.0.0.1/`,
  `https://172.16.0.1/`,
  `https://192.168.0.1/`,
  `https://224.0.0.1/`,
  `http://93.184.216.34/`,
  `http://example.com/`,
  `https://user:secret@example.com/`,
  `https://example.com@127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}\\@example.com/`,
  `ftp://example.com/`,
  `file:///etc/passwd`,
  `data:text/plain,hello`,
]

t.test('no address leads inside, however it is written', async (t) => {
  const inside = await web(t, (_, response) => json(response, { inside: true }))
  const outbound = guardedOutbound({ resolve: answers('93.184.216.34') })
  t.teardown(outbound.close)
  for (const url of hostile(inside.port))
    await t.rejects(outbound.fetch(url), { name: 'OutboundRefused' }, url)
  t.equal(inside.requests.length, 0)
})

t.test('a name is refused where one of its addresses is not public', async (t) => {
  const inside = await web(t, (_, response) => json(response, { inside: true }))
  for (const addresses of [
    ['127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['2606:4700::1111', 'fd00::1'],
    [],
  ]) {
    const outbound = guardedOutbound({ resolve: answers(...addresses) })
    const url = `https://rebound.example:${inside.port}/`
    await t.rejects(outbound.fetch(url), { name: 'OutboundRefused' }, addresses.join(' '))
    await outbound.close()
  }
  t.equal(inside.requests.length, 0)
})

/** Counts who connects, and says nothing. */
const listening = async (t: Test, host: string, port: number) => {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.destroy()
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { port: (server.address() as AddressInfo).port, count: () => count }
}

t.test('connects to the checked address, even if the name resolves to another later', async (t) => {
  const outside = await listening(t, '127.0.0.1', 0)
  const inside = await listening(t, '127.0.0.2', outside.port)
  let lookups = 0
  const outbound = guardedOutbound({
    isOpen: (address) => address === '127.0.0.1',
    resolve: async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }],
  })
  t.teardown(outbound.close)
  const url = `https://rebound.example:${outside.port}/`
  await t.rejects(outbound.fetch(url), { name: 'TypeError' })
  t.strictSame([lookups, outside.count(), inside.count()], [1, 1, 0])
  await t.rejects(outbound.fetch(url), { name: 'OutboundRefused' })
  t.strictSame([lookups, outside.count(), inside.count()], [2, 1, 0])
})

t.test('a trusted host may be private and plain, on its port alone', async (t) => {
  const trusted = await web(t, (_, response) => json(response, { one: true }))
  const other = await web(t, (_, response) => json(response, { other: true }))
  const outbound = guardedOutbound({ allowHosts: [trusted.host] })
  const anyPort = guardedOutbound({ allowHosts: ['127.0.0.1'] })
  t.teardown(() => Promise.all([outbound.close(), anyPort.close()]))
  t.strictSame(await (await outbound.fetch(trusted.url)).json(), { one: true })
  await t.rejects(outbound.fetch(other.url), { name: 'OutboundRefused' })
  t.strictSame(await (await anyPort.fetch(other.url)).json(), { other: true })
  await t.rejects(anyPort.fetch(`http://u:p@${other.host}/`), { name: 'OutboundRefused' })
})

t.test('a redirect is answered, not followed', async (t) => {
  const site = await web(t, (_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  const outbound = guardedOutbound({ allowHosts: [site.host] })
  t.teardown(outbound.close)
  const response = await outbound.fetch(site.url)
  t.equal(response.status, 302)
  t.equal(site.requests.length, 1)
})
