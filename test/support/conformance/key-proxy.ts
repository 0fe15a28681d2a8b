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
 * A way to our MCP server for testers that know no API key and call tools by names of their own. It
 * adds the key, takes the agents' ids from the ends of tools' names (and puts them back), and gives a
 * call without a message one. All else passes through as it is: paths, headers, bytes.
 * `calls` hears each call of a tool before it is passed on.
 */
export const keyProxy = async (
  t: Test,
  server: { url: string },
  { key }: Key,
  agentIds: Readonly<Record<string, string>>,
  calls: (tool: string) => void,
) => {
  const ends = new Map(Object.entries(agentIds).map(([name, id]) => [name, id.slice(-12)]))
  const long = (name: string): string => (ends.has(name) ? `${name}_${ends.get(name)}` : name)
  const withIds = (body: string): string => {
    const call = calledIn(body)
    if (!call || !ends.has(call.params.name)) return body
    const { name, arguments: args } = call.params
    calls(name)
    const params = { ...call.params, name: long(name), arguments: { message: 'Hi', ...args } }
    return JSON.stringify({ ...call, params })
  }
  const withoutIds = (text: string): string =>
    [...ends].reduce((said, [name]) => said.replaceAll(`"${long(name)}"`, `"${name}"`), text)

  const { hostname, port } = new URL(server.url)
  const proxy = createServer(async (asked, answered) => {
    const parts: Buffer[] = []
    for await (const part of asked) parts.push(part)
    const body = withIds(Buffer.concat(parts).toString())
    const tool = asked.headers['mcp-name']
    const headers = {
      ...asked.headers,
      'x-api-key': key,
      'content-length': Buffer.byteLength(body),
      ...(typeof tool === 'string' ? { 'mcp-name': long(tool) } : {}),
    }
    const { method } = asked
    const passedOn = request({ hostname, port, path, method, headers }, async (answer) => {
      const { 'content-length': _, ...kept } = answer.headers
      answered.writeHead(answer.statusCode ?? 500, kept)
      for await (const bytes of answer.setEncoding('utf8')) answered.write(withoutIds(bytes))
      answered.end()
    })
    passedOn.on('error', () => answered.destroy())
    answered.on('close', () => passedOn.destroy())
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
