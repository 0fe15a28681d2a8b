// A shop to try tools with: an HTTP API, and an MCP server (Streamable HTTP).
//   node docs/guides/shop.mjs 4000
import { createServer } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  server.registerTool(
    'opening_hours',
    {
      description: 'When the shop is open on a day',
      inputSchema: z.object({ day: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ day }) => ({
      content: [{ type: 'text', text: day === 'sunday' ? 'closed' : `${day}: 9 to 18` }],
    }),
  )
  return server
})

const port = Number(process.argv[2] ?? 4000)
createServer(async (request, response) => {
  const [, stock] = /^\/stock\/(\w+)/.exec(request.url ?? '') ?? []
  if (stock) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ article: stock, pieces: 12 }))
    return
  }
  let body = ''
  for await (const part of request) body += part
  const { method, headers } = request
  const sent = method === 'POST' ? { method, headers, body } : { method, headers }
  const answer = await mcp.fetch(new Request(`http://127.0.0.1:${port}/mcp`, sent))
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(await answer.text())
}).listen(port, '127.0.0.1')
