import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { Client as Key } from './client.ts'

/**
 * The protocol's official client on our server. `auto` speaks the newest form (without sessions),
 * `legacy` that of 2025-11-25.
 */
export const mcpClient = async (
  t: Test,
  server: { url: string },
  { key }: Key,
  mode: 'auto' | 'legacy' = 'auto',
) => {
  const transport = new StreamableHTTPClientTransport(new URL('/api/external/mcp', server.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: {}, versionNegotiation: { mode } },
  )
  await client.connect(transport)
  t.teardown(() => client.close())
  return client
}
