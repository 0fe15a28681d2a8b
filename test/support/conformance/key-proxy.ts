import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { z } from 'zod'
import type { Client as Key } from '../client.ts'

const path = '/api/external/mcp'

/** A call of a tool, as far as the proxy looks into it. */
const called = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.looseObject({}).optional() }),
})

const calledIn = (body: string) => {
  try {
    return called.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

/**
 * A proxy to our MCP server for testers without an API key, which call tools by other names. It
 * adds the key, a missing message, and the agents' ids at the ends of tools' names, and forwards
 * the rest unchanged. `calls` is called before each forwarded tool call.
 */
export const keyProxy = async (
  t: Test,
  server: { url: string },
  { key }: Key,
  agentIds: Readonly<Record<string, string>>,
  calls: (tool: string) => void,
) => {
  const suffixes = new Map(Object.entries(agentIds).map(([name, id]) => [name, id.slice(-12)]))
  const long = (name: string): string =>
    suffixes.has(name) ? `${name}_${suffixes.get(name)}` : name
  const withIds = (body: string): string => {
    const call = calledIn(body)
    if (!call || !suffixes.has(call.params.name)) return body
    const { name, arguments: args } = call.params
    calls(name)
    const params = { ...call.params, name: long(name), arguments: { message: 'Hi', ...args } }
    return JSON.stringify({ ...call, params })
  }
  const withoutIds = (text: string): string =>
    [...suffixes].reduce(
      (result, [name]) => result.replaceAll(`"${long(name)}"`, `"${name}"`),
      text,
    )

  const { hostname, port } = new URL(server.url)
  const proxy = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part)
    const body = withIds(Buffer.concat(parts).toString())
    const tool = incoming.headers['mcp-name']
    const headers = {
      ...incoming.headers,
      'x-api-key': key,
      'content-length': Buffer.byteLength(body),
      ...(typeof tool === 'string' ? { 'mcp-name': long(tool) } : {}),
    }
    const { method } = incoming
    const passedOn = request({ hostname, port, path, method, headers }, async (answer) => {
      const { 'content-length': _, ...otherHeaders } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 500, otherHeaders)
      for await (const bytes of answer.setEncoding('utf8')) outgoing.write(withoutIds(bytes))
      outgoing.end()
    })
    passedOn.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passedOn.destroy())
    passedOn.end(body)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`
}
