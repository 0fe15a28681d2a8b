import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Attack, expect } from '../../support/under-attack.ts'

const zeros = (count: number): number[] => Array(count).fill(0)
const about = { protocolVersion: '2025-11-25', serverInfo: { name: 'wide', version: '1' } }
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

/**
 * An MCP server whose answers are each an error for a validator, hundreds of thousands of times.
 */
const wideServer = async () => {
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await text(request)) || '{}')
    if (request.method !== 'POST') return response.writeHead(405).end()
    if (id === undefined) return response.writeHead(202).end()
    const answers: Readonly<Record<string, object>> = {
      initialize: { ...about, capabilities: { tools: {} } },
      'tools/list': {
        tools: request.url === '/tools' ? zeros(1_900_000) : [tool('wide'), tool('wider')],
      },
      'tools/call': { content: zeros(params?.name === 'wide' ? 40_000 : 1_900_000) },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

/** Lists of tools and results of an MCP server that are 4 MB of zeros. */
export const wideMcpAnswers: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  return async () => {
    const { url, close } = await wideServer()
    try {
      const servers = ['/calls', '/tools'].map((path, n) => ({ name: `s${n}`, url: url + path }))
      const agent = await organization.agent({ name: `Wide ${url}`, mcp_servers: servers })
      const key = await organization.key({ scopes: ['agents:invoke'] })
      const path = `/api/external/agents/${agent}/completions`
      for (const message of ['Use s0_wide', 'Use s0_wider', 'Use s1'])
        expect(await key.ask('POST', path, { message }), 200)
    } finally {
      close()
    }
  }
}
