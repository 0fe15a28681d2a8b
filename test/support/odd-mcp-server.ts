import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { json, type WebRequest, web } from './web.ts'

/** A request of the protocol, as it came. */
type Message = { id?: number | string; method: string; params?: { name?: string; cursor?: string } }

/** Answers a request in any way, or gives its result. */
export type OddAnswer =
  | object
  | ((message: Message, response: ServerResponse, incoming: WebRequest) => void)

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'odd', version: '1' },
}

export const schema = { type: 'object', properties: {} }

/** One tool, whose result is its name. */
const usual: Readonly<Record<string, OddAnswer>> = {
  initialize: initialized,
  'tools/list': { tools: [{ name: 'good', inputSchema: schema }] },
  'tools/call': ({ id, params }: Message, response: ServerResponse) =>
    json(response, {
      jsonrpc: '2.0',
      id,
      result: { content: [{ type: 'text', text: `${params?.name} was called` }] },
    }),
}

/** An MCP server written by hand, whose answers differ from the usual ones by method. */
export const oddMcpServer = async (t: Test, odd: Readonly<Record<string, OddAnswer>> = {}) => {
  const answers = { ...usual, ...odd }
  const methods: string[] = []
  const site = await web(t, (incoming, response) => {
    if (incoming.method !== 'POST') {
      const other = answers[`${incoming.method}`]
      if (typeof other === 'function') other({ method: `${incoming.method}` }, response, incoming)
      else response.writeHead(405).end()
      return
    }
    const message: Message = JSON.parse(incoming.body)
    methods.push(message.method)
    const answer = answers[message.method]
    if (typeof answer === 'function') answer(message, response, incoming)
    else if (message.id === undefined) response.writeHead(202).end()
    else if (answer) json(response, { jsonrpc: '2.0', id: message.id, result: answer })
    else {
      const error = { code: -32601, message: 'Method not found' }
      json(response, { jsonrpc: '2.0', id: message.id, error })
    }
  })
  return { ...site, count: (method: string) => methods.filter((name) => name === method).length }
}

/** An answer of a status, a type and a body. */
export const raw =
  (status: number, type?: string, body = '') =>
  (_message: unknown, response: ServerResponse): void => {
    response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body)
  }

/** A message as the only event of a stream. */
export const asStream = (response: ServerResponse, data: string): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`event: message\ndata: ${data}\n\n`)
}
