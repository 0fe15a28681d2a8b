import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t, { type Test } from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { contents } from '../../support/client.ts'
import { mcpClient } from '../../support/mcp-client.ts'
import { startChat } from '../../support/server.ts'

const path = '/api/external/mcp'
const accept = { accept: 'application/json, text/event-stream' }

const scene = async (
  t: Test,
  ...args: Parameters<typeof startChat> extends [Test, ...infer R] ? R : never
) => {
  const all = await startChat(t, ...args)
  const agentId = await all.organization.agent({ name: 'Libra rian!', description: 'Knows books' })
  return { ...all, agentId, tool: `libra_rian_${agentId.slice(-12)}` }
}

const calling = (name: string, args: object, id: string | number = 1, meta: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...meta },
})

for (const mode of ['auto', 'legacy'] as const)
  t.test(`agents are tools of the official client (${mode})`, async (t) => {
    const { server, organization, key, provider, agentId, tool } = await scene(t, { text: 'Yes.' })
    await organization.agent({ name: 'Asleep', is_active: false })
    const client = await mcpClient(t, server, key, mode)
    t.match(client.getServerVersion(), { name: 'reprise' })
    t.equal(client.getNegotiatedProtocolVersion(), mode === 'auto' ? '2026-07-28' : '2025-11-25')

    const { tools } = await client.listTools()
    t.same(tools.map(({ title }) => title).sort(), ['Libra rian!', 'Orchestrator'])
    t.match(
      tools.find(({ name }) => name === tool),
      { description: 'Knows books', inputSchema: { required: ['message'] } },
    )

    const first = await client.callTool({ name: tool, arguments: { message: 'Any books?' } })
    t.match(first, {
      content: [{ type: 'text', text: 'Yes.' }],
      structuredContent: { agent_id: agentId, agent_name: 'Libra rian!', response: 'Yes.' },
    })
    const { session_id } = first.structuredContent as { session_id: string }
    provider.next({ text: 'And more.' })
    const again = { message: 'More?', session_id }
    t.match(await client.callTool({ name: tool, arguments: again }), {
      structuredContent: { session_id, response: 'And more.' },
    })
    t.same(await contents(key, session_id), ['Any books?', 'Yes.', 'More?', 'And more.'])

    await t.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), {
      code: -32602,
      data: { code: 'agent_not_found' },
    })
    t.match(
      await client.callTool({ name: tool, arguments: { message: 'Hi', session_id: 'not mine!' } }),
      { isError: true, _meta: { 'reprise/error': { code: 'invalid_input', param: 'session_id' } } },
    )
  })

t.test('the client of before works too', async (t) => {
  const { server, key, tool } = await scene(t, { text: 'Yes.' })
  const transport = new OlderTransport(new URL(path, server.url), {
    requestInit: { headers: { 'x-api-key': key.key } },
  })
  const client = new OlderClient({ name: 'test', version: '1' })
  // biome-ignore lint/suspicious/noExplicitAny: its types conflict with exactOptionalPropertyTypes
  await client.connect(transport as any)
  t.teardown(() => client.close())
  t.match(await client.callTool({ name: tool, arguments: { message: 'Books?' } }), {
    content: [{ text: 'Yes.' }],
  })
  await transport.terminateSession()
})

t.test(
  'an agent that was renamed keeps its old name; a container agent is a tool too',
  async (t) => {
    const { server, key, organization, agentId, tool } = await scene(t, { text: 'Yes.' })
    const child = await organization.agent({ name: 'One' })
    await organization.agent({ name: 'Chain', agent_type: 'SEQUENTIAL_AGENT', sub_agents: [child] })
    const at = `/organizations/${organization.organizationId}/agents/${agentId}`
    await server.platform.ask('PATCH', at, { name: 'Книги' })
    const client = await mcpClient(t, server, key)
    const { tools } = await client.listTools()
    t.ok(
      tools.some(({ name }) => name === `agent_${agentId.slice(-12)}`),
      'without Latin letters',
    )
    for (const name of [tool, tools.find(({ title }) => title === 'Chain')?.name ?? ''])
      t.match(await client.callTool({ name, arguments: { message: 'Hi' } }), {
        content: [{ text: 'Yes.' }],
      })
  },
)

t.test('progress tells what the run does, to those who ask', async (t) => {
  const { server, key, tool } = await scene(t, { text: 'Yes.' })
  for (const mode of ['auto', 'legacy'] as const) {
    const client = await mcpClient(t, server, key, mode)
    const messages: (string | undefined)[] = []
    const onprogress = ({ message }: { message?: string | undefined }) => messages.push(message)
    await client.callTool({ name: tool, arguments: { message: 'Hi' } }, { onprogress })
    t.same(messages, ['agent_started Libra rian!', 'agent_completed Libra rian!'])
  }
})

t.test(
  'refusals carry an HTTP status, a JSON-RPC code or a code of the problem table',
  async (t) => {
    const { server, key, tool, organization } = await scene(t, { text: 'Yes.' })
    await t.rejects(
      mcpClient(t, server, await organization.key({ scopes: ['agents:list'] })),
      /HTTP 403/,
    )
    t.match(await key.ask('GET', path), { status: 405 }, 'no stream of its own')
    t.match(await key.ask('DELETE', path), { status: 405 }, 'no sessions')
    const call = calling(tool, { message: 'Hi' })
    t.match(await key.ask('POST', path, [call, call], { headers: accept }), {
      status: 400,
      body: { error: { code: -32600 } },
    })
    const listen = { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params: {} }
    t.match(await key.ask('POST', path, listen, { headers: accept }), {
      status: 404,
      body: { id: 7, error: { code: -32601 } },
    })
    t.match(await key.ask('POST', path, { nothing: true }, { headers: accept }), { status: 400 })
    t.match(
      await key.ask('POST', path, calling(tool, { message: 'x'.repeat(5_000_000) }), {
        headers: accept,
      }),
      { status: 413, code: 'payload_too_large' },
    )
    const client = await mcpClient(t, server, key, 'legacy')
    const long = { message: 'x'.repeat(1_100_000) }
    t.match(await client.callTool({ name: tool, arguments: long }), {
      isError: true,
      _meta: { 'reprise/error': { code: 'payload_too_large' } },
    })
    const broke = await server.platform.organization({ plan: null })
    const poor = await broke.agent({ name: 'Poor', model: 'test/model' })
    const poorClient = await mcpClient(t, server, await broke.key())
    const name = `poor_${poor.slice(-12)}`
    t.match(await poorClient.callTool({ name, arguments: { message: 'Hi' } }), {
      isError: true,
      content: [{ text: /\(no_subscription\)$/ }],
      _meta: { 'reprise/error': { code: 'no_subscription' } },
    })
  },
)

t.test('web pages of other origins are refused', async (t) => {
  const { server, key } = await scene(t, undefined, undefined, {
    PUBLIC_URL: 'https://ours.example/',
    CORS_ORIGINS: 'https://app.example',
  })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const from = (origin: string) => key.ask('POST', path, ping, { headers: { ...accept, origin } })
  for (const origin of ['https://app.example', 'https://ours.example', 'http://localhost:6274'])
    t.match(await from(origin), { status: 200 }, origin)
  const own = new URL(server.url).port
  for (const origin of ['https://evil.example', `http://evil.example:${own}`, 'null'])
    t.match(await from(origin), { status: 403, code: 'origin_not_allowed' }, origin)
})

t.test('calls are cancelled as each form of the protocol says', async (t) => {
  const { server, key, tool, provider, organization } = await scene(t, { text: 'Yes.' })
  const never = deferred<void>()
  for (const mode of ['auto', 'legacy'] as const) {
    const client = await mcpClient(t, server, key, mode)
    const before = provider.requests.length
    provider.next({ text: 'Never said.', hold: { after: 1, until: never.promise } })
    const stop = new AbortController()
    const session_id = `cancelled-${mode}`
    const call = client.callTool(
      { name: tool, arguments: { message: 'Hi', session_id } },
      { signal: stop.signal },
    )
    await provider.received(before + 1)
    stop.abort()
    await t.rejects(call)
    await provider.requests[before]?.aborted
    t.match(
      await client.callTool({ name: tool, arguments: { message: 'Next', session_id } }),
      { content: [{ text: 'Yes.' }] },
      'the session is free again',
    )
  }

  const before = provider.requests.length
  const hold = deferred<void>()
  provider.next({ text: 'Said all the same.', hold: { after: 1, until: hold.promise } })
  const abort = new AbortController()
  const headers = { ...accept, 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'one' }
  const call = calling(tool, { message: 'Hi', session_id: 'lost' }, 5)
  const lost = key.ask('POST', path, call, { headers, signal: abort.signal })
  await provider.received(before + 1)
  const other = await organization.key()
  const cancel = {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 5 },
  }
  t.match(await other.ask('POST', path, cancel, { headers }), { status: 202 }, 'of another key')
  abort.abort()
  await t.rejects(lost)
  hold.resolve()
  const attached = await key.attach('lost')
  if (attached.status === 200) await attached.all()
  t.same(
    await contents(key, 'lost'),
    ['Hi', 'Said all the same.'],
    'a lost connection ends nothing',
  )
})

t.test('a repeated Idempotency-Key does nothing twice', async (t) => {
  const { key, tool, provider } = await scene(t, { text: 'Yes.' })
  const headers = { ...accept, 'idempotency-key': 'once' }
  const call = calling(tool, { message: 'Hi', session_id: 'once' })
  const first = await key.ask('POST', path, call, { headers })
  const second = await key.ask('POST', path, call, { headers })
  t.match([first.status, second.status], [200, 200])
  t.match(second.body, /Yes\./)
  t.equal(provider.requests.length, 1)
  t.same(await contents(key, 'once'), ['Hi', 'Yes.'])
})

t.test(
  'tools are listed for keys that may list agents, and called without that right',
  async (t) => {
    const { server, organization } = await scene(t, { text: 'Yes.' })
    const listing = await mcpClient(t, server, await organization.key())
    const [tool] = (await listing.listTools()).tools
    const caller = await organization.key({ scopes: ['agents:invoke'] })
    const calling = await mcpClient(t, server, caller)
    await t.rejects(calling.listTools(), { message: /agents:list/ })
    t.match(await calling.callTool({ name: tool?.name ?? '', arguments: { message: 'Hi' } }), {
      content: [{ type: 'text' }],
    })
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    t.match(await caller.ask('POST', '/api/external/mcp', list), {
      status: 403,
      code: 'insufficient_scopes',
      body: { missing_scopes: ['agents:list'] },
    })
  },
)
