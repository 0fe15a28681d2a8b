import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Test } from 'tap'
import { z } from 'zod'
import { type WebRequest, web } from './web.ts'

type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

const text = (text: string): { content: Content[] } => ({ content: [{ type: 'text', text }] })

/** What one session can do. `headers` are those of the request at hand. */
const toolsOf = (headers: () => WebRequest['headers']): McpServer => {
  const server = new McpServer({ name: 'double', version: '1' })
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      annotations: { idempotentHint: true },
    },
    async ({ a, b }) => text(String(a + b)),
  )
  server.registerTool(
    'whoami',
    { description: 'Says who asks', annotations: { readOnlyHint: true } },
    async () => text(`you sent ${headers().authorization}`),
  )
  server.registerTool('breaks', { description: 'Fails' }, async () => ({
    ...text(`no: ${headers().authorization}`),
    isError: true,
  }))
  server.registerTool('throws', { description: 'Throws' }, async () => {
    throw new Error(`thrown with ${headers().authorization}`)
  })
  server.registerTool('stalls', { description: 'Never ends' }, () => new Promise(() => undefined))
  server.registerTool('draws', { description: 'Draws' }, async () => ({
    content: [
      { type: 'text', text: 'Here:' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }))
  server.registerTool(
    'counts',
    { description: 'Counts', outputSchema: { n: z.number() } },
    async () => ({ content: [], structuredContent: { n: 3 } }),
  )
  server.registerTool('remember', { description: 'Has the name of another' }, async () =>
    text('theirs'),
  )
  return server
}

type Options = {
  /** Without it a request is refused with 401, the value it came with in the body. */
  authorization?: string
}

/** A real MCP server (Streamable HTTP, with sessions) on loopback. */
export const mcpServer = async (t: Test, { authorization }: Options = {}) => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  let current: WebRequest['headers'] = {}

  const transportFor = async (incoming: WebRequest) => {
    const id = incoming.headers['mcp-session-id']
    if (id !== undefined) return sessions.get(String(id))
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport)
      },
      onsessionclosed: (closed) => {
        sessions.delete(closed)
      },
    })
    await toolsOf(() => current).connect(transport)
    return transport
  }

  const site = await web(t, async (incoming, response) => {
    current = incoming.headers
    if (authorization !== undefined && current.authorization !== authorization) {
      response.writeHead(401).end(`refused: ${current.authorization}`)
      return
    }
    const transport = await transportFor(incoming)
    if (!transport) {
      response.writeHead(404).end('no such session')
      return
    }
    const body = incoming.body === '' ? undefined : JSON.parse(incoming.body)
    await transport.handleRequest(response.req, response, body)
  })

  return {
    ...site,
    sessions,
    /** How often a method was asked for. */
    count: (method: string) =>
      site.requests.filter(({ body }) => body.includes(`"method":"${method}"`)).length,
  }
}
