import t, { type Test } from 'tap'
import { user } from '../../support/client.ts'
import { connectScene } from '../../support/connect-scene.ts'
import { mcpServer } from '../../support/mcp-server.ts'
import { shopCall } from '../../support/shop-call.ts'
import { json, web } from '../../support/web.ts'

const value = 'sk-of-ann-alone'

/**
 * A user, the shop that she connects, and another host that an admin of the organization may
 * choose.
 */
const scene = async (t: Test) => {
  const other = await web(t, (_, response) => json(response, { taken: true }))
  const mcp = await mcpServer(t)
  const otherMcp = await mcpServer(t)
  const all = await connectScene(t, other.host, mcp.host, otherMcp.host)
  const { organization, server, key, user_id, shop } = all
  const configure = (agent_id: string, settings: object) =>
    server.platform.ask(
      'PATCH',
      `/organizations/${organization.organizationId}/agents/${agent_id}`,
      settings,
    )
  const formOf = async (url: string) => {
    const page = await (await fetch(url)).text()
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(page)?.[1] ?? ''
    const submit = (fields: Record<string, string> = { SHOP: value }) =>
      fetch(url, {
        method: 'POST',
        body: new URLSearchParams({ csrf, ...fields }),
        redirect: 'manual',
      })
    return { page, submit }
  }
  return {
    ...all,
    other,
    mcp,
    otherMcp,
    configure,
    formOf,
    moveTo: (agent_id: string, url: string) =>
      configure(agent_id, { tools: [shopCall(url, 'SHOP')] }),
    /** What each host was sent as the credential in a chat of the user, and what the tool said. */
    async sent(target_agent_id: string, text = 'Call shop') {
      const before = { shop: shop.requests.length, other: other.requests.length }
      const chat = { messages: user(text), target_agent_id, on_behalf_of: user_id }
      const { body } = await key.chat(chat)
      const valuesOf = (site: typeof shop, from: number) =>
        site.requests.slice(from).map(({ headers }) => headers['x-shop'])
      return {
        shop: valuesOf(shop, before.shop),
        other: valuesOf(other, before.other),
        said: body.choices[0].message.content as string,
      }
    },
  }
}

t.test('a value is sent only to the hosts shown on its page', async (t) => {
  const { agent, link, formOf, moveTo, sent, connected, shop, other } = await scene(t)
  const shopper = await agent('SHOP')
  const form = await formOf(await link(shopper))
  t.match(form.page, `It is sent to ${shop.host} only.`)
  t.equal((await form.submit()).status, 303)
  t.match(await sent(shopper), { shop: [value], other: [] })
  t.strictSame(await connected(shopper), { SHOP: true })

  await moveTo(shopper, other.url)
  const moved = await sent(shopper)
  t.match(moved, { shop: [], other: [] })
  t.match(moved.said, `SHOP may not be sent to ${other.host}`)
  t.match(moved.said, 'agree')
  t.strictSame(await connected(shopper), { SHOP: false })

  const again = await formOf(await link(shopper))
  t.match(again.page, `It is sent to ${other.host} only.`)
  t.match(again.page, 'Not connected yet')
  t.equal((await again.submit({ SHOP: 'sk-new' })).status, 303)
  t.match(await sent(shopper), { shop: [], other: ['sk-new'] })
  await moveTo(shopper, shop.url)
  t.match(await sent(shopper), { shop: [], other: [] }, 'the last page did not show the shop')
})

t.test('a form that showed other hosts stores nothing', async (t) => {
  const { agent, link, formOf, moveTo, connected, other } = await scene(t)
  const shopper = await agent('SHOP')
  const url = await link(shopper)
  const { submit } = await formOf(url)
  await moveTo(shopper, other.url)
  const refused = await submit()
  t.equal(refused.status, 403)
  t.match(await refused.text(), 'Nothing was saved')
  t.strictSame(await connected(shopper), { SHOP: false })
  t.equal((await (await formOf(url)).submit()).status, 303)
  t.strictSame(await connected(shopper), { SHOP: true })
})

t.test('consent for one squad stays valid for the other', async (t) => {
  const { agent, link, formOf, moveTo, connected, other, shop } = await scene(t)
  const [first, second] = [await agent('SHOP'), await agent('SHOP')]
  await moveTo(second, other.url)
  await (await formOf(await link(first))).submit()
  t.strictSame([await connected(first), await connected(second)], [{ SHOP: true }, { SHOP: false }])
  const form = await formOf(await link(second))
  for (const { host } of [shop, other]) t.match(form.page, host)
  await form.submit()
  t.strictSame([await connected(first), await connected(second)], [{ SHOP: true }, { SHOP: true }])
})

t.test(
  'a value that an application stores names its hosts, or has those of the tools',
  async (t) => {
    const { agent, moveTo, sent, connected, key, of, other, shop } = await scene(t)
    const put = (more: object) => key.ask('PUT', `${of}/credentials/SHOP`, { value, ...more })
    t.match(await put({}), { status: 200 })
    const shopper = await agent('SHOP')
    t.match(await sent(shopper), { shop: [] }, 'no tool named it when it was stored')
    t.match(await put({}), { status: 200 })
    t.match(await sent(shopper), { shop: [value] })
    await moveTo(shopper, other.url)
    t.match(await sent(shopper), { shop: [], other: [] })
    t.match(await put({ hosts: [other.host.toUpperCase(), shop.host] }), { status: 200 })
    t.match(await sent(shopper), { shop: [], other: [value] })
    t.strictSame(await connected(shopper), { SHOP: true })
    t.match(await put({ hosts: [] }), { status: 200 })
    t.match(await sent(shopper), { shop: [], other: [] })
    for (const hosts of [
      'a.example',
      ['https://a.example/'],
      ['a.example/b'],
      ['u@a.example'],
      [''],
      ['{host}'],
    ])
      t.match(await put({ hosts }), { status: 400, code: 'invalid_input' }, JSON.stringify(hosts))
    t.match(await put({ hosts: Array.from({ length: 101 }, (_, n) => `h${n}.example`) }), {
      status: 400,
    })
  },
)

t.test('a value is not sent to an MCP server at another host', async (t) => {
  const { organization, configure, connected, key, of, sent, mcp, otherMcp } = await scene(t)
  const at = (url: string) => ({
    mcp_servers: [{ name: 'mcp', url, headers: { Authorization: 'Bearer {{credential:SHOP}}' } }],
  })
  const agent_id = await organization.agent({ name: 'Asker', ...at(mcp.url) })
  await key.ask('PUT', `${of}/credentials/SHOP`, { value })
  await sent(agent_id, 'Call whoami')
  t.ok(mcp.requests.some(({ headers }) => headers.authorization === `Bearer ${value}`))
  await configure(agent_id, at(otherMcp.url))
  t.match((await sent(agent_id, 'Call mcp')).said, `SHOP may not be sent to ${otherMcp.host}`)
  t.equal(otherMcp.requests.length, 0)
  t.strictSame(await connected(agent_id), { SHOP: false })
})
