import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import t, { type Test } from 'tap'
import { listeningSlots } from '../../src/tools/mcp-listening.ts'
import { eventually } from '../support/eventually.ts'
import { mcpScene, namesOf, toolNamed } from '../support/mcp-scene.ts'
import { asStream, oddMcpServer, schema } from '../support/odd-mcp-server.ts'
import { call } from '../support/recorded.ts'
import { resultOf } from '../support/tools.ts'
import { json, web } from '../support/web.ts'

const old = { name: 'old', inputSchema: schema }
const added = { name: 'added', inputSchema: schema }

/** A server whose list grows by a tool once `change` is called. */
const changing = async (t: Test, odd: Parameters<typeof oddMcpServer>[1] = {}) => {
  let tools = [old]
  const server = await oddMcpServer(t, {
    'tools/list': ({ id }, response) => json(response, { jsonrpc: '2.0', id, result: { tools } }),
    ...odd,
  })
  return {
    ...server,
    change: () => {
      tools = [added]
    },
  }
}

t.test('saving an agent again fetches the lists of its servers anew', async (t) => {
  const server = await changing(t)
  const { mcp, toolsAt } = await mcpScene(t)
  const place = { name: 'Double', url: server.url, headers: {} }
  t.strictSame(namesOf(await toolsAt(server.url)), ['old'])
  server.change()
  t.strictSame(namesOf(await toolsAt(server.url)), ['old'], 'it is kept')
  mcp.check([place], call)
  await eventually(async () => server.count('tools/list') === 2)
  t.strictSame(namesOf(await toolsAt(server.url)), ['added'])
  t.equal(server.count('tools/list'), 2, 'once')
})

t.test('a list is fetched anew for each user whose credentials it needs', async (t) => {
  const server = await changing(t)
  const { mcp, toolsAt } = await mcpScene(t)
  const headers = { Authorization: 'Bearer {{credential:TOKEN}}' }
  const other = { ...call, userId: 'user-2' }
  await toolsAt(server.url, headers)
  await toolsAt(server.url, headers, other)
  server.change()
  mcp.check([{ name: 'Double', url: server.url, headers }], call)
  t.strictSame(namesOf(await toolsAt(server.url, headers)), ['added'])
  t.strictSame(namesOf(await toolsAt(server.url, headers, other)), ['added'])
})

t.test('another organization keeps its list', async (t) => {
  const server = await changing(t)
  const { mcp, toolsAt } = await mcpScene(t)
  const other = { ...call, organizationId: 'org-2' }
  await toolsAt(server.url, {}, other)
  server.change()
  mcp.check([{ name: 'Double', url: server.url, headers: {} }], call)
  t.strictSame(namesOf(await toolsAt(server.url, {}, other)), ['old'])
})

const refusals: [string, object][] = [
  ['error -32602', { error: { code: -32602, message: 'Unknown tool: old' } }],
  ['error -32601', { error: { code: -32601, message: 'Method not found' } }],
  [
    'a result of unknown tool',
    { result: { isError: true, content: [{ type: 'text', text: 'Unknown tool: old' }] } },
  ],
  [
    'a result of -32602',
    {
      result: {
        isError: true,
        content: [{ type: 'text', text: 'MCP error -32602: Tool old not found' }],
      },
    },
  ],
]

for (const [title, answer] of refusals)
  t.test(`a tool that the server refuses with ${title} fetches the list anew`, async (t) => {
    const server = await changing(t, {
      'tools/call': ({ id }, response) => json(response, { jsonrpc: '2.0', id, ...answer }),
    })
    const { toolsAt } = await mcpScene(t)
    const tools = await toolsAt(server.url)
    server.change()
    t.match(await resultOf(toolNamed(tools, 'old'), {}), { ok: false })
    t.strictSame(namesOf(await toolsAt(server.url)), ['added'])
  })

t.test('a tool that fails for another reason keeps the list', async (t) => {
  const content = [{ type: 'text', text: 'The customer was not found' }]
  const server = await changing(t, {
    'tools/call': ({ id }, response) =>
      json(response, { jsonrpc: '2.0', id, result: { isError: true, content } }),
  })
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  t.match(await resultOf(toolNamed(tools, 'old'), {}), { ok: false })
  await toolsAt(server.url)
  t.equal(server.count('tools/list'), 1)
})

const notice = { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: null }

t.test('a notice in the stream of a call fetches the list anew', async (t) => {
  const server = await changing(t, {
    'tools/call': ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(notice)}\n\n`)
      const result = { content: [{ type: 'text', text: 'Done' }] }
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    },
  })
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  server.change()
  await resultOf(toolNamed(tools, 'old'), {})
  t.strictSame(namesOf(await toolsAt(server.url)), ['added'])
})

t.test('a change while the list is on its way fetches it once more', async (t) => {
  let changed = false
  const server = await oddMcpServer(t, {
    'tools/list': ({ id }, response) => {
      const result = { tools: [changed ? added : old] }
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result })
      if (changed) return asStream(response, answer)
      changed = true
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify(notice)}\n\ndata: ${answer}\n\n`)
    },
  })
  const { toolsAt } = await mcpScene(t)
  t.strictSame(namesOf(await toolsAt(server.url)), ['old'])
  t.strictSame(namesOf(await toolsAt(server.url)), ['added'])
})

/** A real server of the protocol's package; it announces each tool that is registered. */
const realServer = async (t: Test) => {
  const server = new McpServer({ name: 'real', version: '1' })
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'one' })
  const tool = (name: string) =>
    server.registerTool(name, { description: name }, async () => ({ content: [] }))
  tool('old')
  await server.connect(transport)
  const site = await web(t, async ({ body }, response) => {
    await transport.handleRequest(
      response.req,
      response as ServerResponse,
      body === '' ? undefined : JSON.parse(body),
    )
  })
  return { ...site, tool }
}

t.test('a notice in the stream that a server has for notices is heard', async (t) => {
  const server = await realServer(t)
  const { toolsAt } = await mcpScene(t)
  t.strictSame(namesOf(await toolsAt(server.url)), ['old'])
  const streams = () => server.requests.filter(({ method }) => method === 'GET').length
  await eventually(async () => streams() === 1)
  server.tool('added')
  await eventually(async () => namesOf(await toolsAt(server.url)).includes('added'))
})

/** A real server of the newest protocol, which knows no `initialize`. */
const modernServer = async (t: Test) => {
  let tools = ['old']
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'modern', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      )
      server.setRequestHandler('tools/list', async () => ({
        tools: tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
      }))
      server.setRequestHandler('tools/call', async ({ params }) => ({
        content: [{ type: 'text' as const, text: `${params.name} was called` }],
        structuredContent: { n: 3 },
      }))
      return server
    },
    { legacy: 'reject' },
  )
  t.teardown(() => handler.close())
  const methods: string[] = []
  const site = await web(t, async ({ body, headers, url }, response) => {
    const { method } = JSON.parse(body)
    methods.push(method)
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    )
    const request = new Request(`http://modern.example${url}`, {
      method: 'POST',
      headers: own,
      body,
    })
    const answer = await handler.fetch(request)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body) Readable.fromWeb(answer.body as ReadableStream<Uint8Array>).pipe(response)
    else response.end()
  })
  const change = () => {
    tools = ['added']
    handler.notify.toolsChanged()
  }
  return { ...site, change, methods }
}

t.test('a server of the newest protocol is not initialized, and reports changes', async (t) => {
  const server = await modernServer(t)
  const { toolsAt, standingAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  t.strictSame(namesOf(tools), ['old'])
  t.strictSame(await resultOf(toolNamed(tools, 'old'), {}), {
    ok: true,
    content: 'old was called',
    reached: { host: server.host },
  })
  t.notOk(server.methods.includes('initialize'))
  server.change()
  await eventually(async () => namesOf(await toolsAt(server.url)).includes('added'))
  t.match(standingAt(server.url), { state: 'ok' })
})

t.test('a stream for notices that ends at once is opened again twenty times', async (t) => {
  const server = await oddMcpServer(t, {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'odd', version: '1' },
    },
    GET: (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('retry: 0\nid: 7\ndata: \n\n')
    },
  })
  const { toolsAt } = await mcpScene(t, { reconnectMs: 0 })
  const tools = await toolsAt(server.url)
  const streams = () => server.requests.filter(({ method }) => method === 'GET').length
  await eventually(async () => streams() === 20)
  t.match(await resultOf(toolNamed(tools, 'good'), {}), { ok: true }, 'calls are no less answered')
})

t.test('a host has sixteen streams for notices, and each is freed once', (t) => {
  const { take } = listeningSlots()
  const releases = [...Array(16)].map(() => take('a.example'))
  t.ok(releases.every((release) => release !== undefined))
  t.equal(take('a.example'), undefined)
  t.ok(take('b.example'))
  releases[0]?.()
  releases[0]?.()
  t.ok(take('a.example'))
  t.equal(take('a.example'), undefined)
  t.end()
})
