import type { Test } from 'tap'
import { json, web } from './web.ts'

type Message = { id?: number; method: string; params?: { name?: string } }

const names = (answers: Readonly<Record<string, object>>) =>
  Object.keys(answers).map((name) => ({ name, inputSchema: { type: 'object' } }))

/** An MCP server that answers whatever it is told to, by method, or by tool. */
export const wideMcpServer = async (
  t: Test,
  answers: Readonly<Record<string, object>>,
  byMethod: Readonly<Record<string, object>> = {},
) =>
  web(t, ({ method, body }, response) => {
    if (method !== 'POST') return response.writeHead(405).end()
    const message: Message = JSON.parse(body)
    const usual: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'wide', version: '1' },
      },
      'tools/list': { tools: names(answers) },
      'tools/call': answers[message.params?.name ?? ''] ?? {},
      ...byMethod,
    }
    const result = usual[message.method]
    if (message.id === undefined) return response.writeHead(202).end()
    const error = { code: -32601, message: 'Method not found' }
    const answer = result ? { result } : { error }
    json(response, { jsonrpc: '2.0', id: message.id, ...answer })
  })
