import t from 'tap'
import { guardedOutbound } from '../../src/adapters/outbound/guarded.ts'
import { credentialHeaders } from '../../src/tools/credential-headers.ts'
import { mcpTools } from '../../src/tools/mcp.ts'
import { mcpServer } from '../support/mcp-server.ts'
import { call } from '../support/recorded.ts'
import { resultOf } from '../support/tools.ts'
import { web } from '../support/web.ts'

/** Servers over loopback; nobody has stored a credential. */
const mcpScene = (test: Parameters<typeof mcpServer>[0]) => {
  const outbound = guardedOutbound({ allowHosts: ['127.0.0.1'] })
  let now = 1_000
  const mcp = mcpTools({
    outbound,
    credentialHeaders: credentialHeaders({ findCredential: async () => undefined }),
    clock: { now: () => new Date(now), monotonic: () => now },
  })
  test.teardown(async () => {
    await mcp.close()
    await outbound.close()
  })
  return {
    mcp,
    advance: (ms: number) => {
      now += ms
    },
  }
}

t.test('how a server answered is known by organization, until it answers otherwise', async (t) => {
  let down = true
  const site = await web(t, (_asked, response) => {
    response.writeHead(down ? 503 : 404).end('with secret words')
  })
  const { mcp, advance } = mcpScene(t)
  const server = { name: 'Double', url: site.url, headers: {} }
  t.strictSame(mcp.standingOf('org-1', server), { state: 'unknown' })
  await mcp.toolsOf([server], call)
  t.strictSame(mcp.standingOf('org-1', server), { state: 'failing', at: 1_000, fault: 'HTTP 503' })
  t.strictSame(mcp.standingOf('org-2', server), { state: 'unknown' })
  const other = { ...server, headers: { 'X-Team': 'a' } }
  t.strictSame(mcp.standingOf('org-1', other), { state: 'unknown' })
  down = false
  advance(15_000)
  await mcp.toolsOf([server], call)
  t.match(mcp.standingOf('org-1', server), { state: 'failing', at: 16_000, fault: 'HTTP 404' })
})

t.test('a call changes the standing too, but the error of a tool does not', async (t) => {
  const double = await mcpServer(t)
  const { mcp, advance } = mcpScene(t)
  const server = { name: 'Double', url: double.url, headers: {} }
  const [listing] = await mcp.toolsOf([server], call)
  t.strictSame(mcp.standingOf('org-1', server), { state: 'ok', at: 1_000 })
  advance(1_000)
  const tool = (name: string) => {
    const match = listing?.tools.find(({ spec }) => spec.name === name)
    if (!match) throw new Error(`there is no ${name}`)
    return match
  }
  await resultOf(tool('breaks'), {})
  t.strictSame(mcp.standingOf('org-1', server), { state: 'ok', at: 2_000 })
  await resultOf(tool('add'), { a: 'x' })
  t.match(mcp.standingOf('org-1', server), { state: 'ok' })
})

t.test('a credential that a user lacks is not the failure of the server', async (t) => {
  const double = await mcpServer(t)
  const { mcp } = mcpScene(t)
  const headers = { Authorization: 'Bearer {{credential:TOKEN}}' }
  const server = { name: 'Double', url: double.url, headers }
  await mcp.toolsOf([server], call)
  t.strictSame(mcp.standingOf('org-1', server), { state: 'unknown' })
  t.equal(double.requests.length, 0)
})
