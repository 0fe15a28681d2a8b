import type {
  Client,
  JsonSchemaValidatorResult,
  jsonSchemaValidator,
} from '@modelcontextprotocol/client'
import type { AgentConfig } from '../agents/agent.ts'
import type { Call } from '../ports/call.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { HeaderValues } from './credential-headers.ts'

export type McpServer = AgentConfig['mcpServers'][number]

/** A connection, who uses it, and whether the last of them shall close it. */
export type Connection = {
  client: Promise<Client>
  close(): Promise<void>
  users: number
  retired: boolean
}

/** Whose connection to what: headers are as they are sent, with the user's own credentials. */
export type McpPlace = { server: McpServer; headers: HeaderValues; call: Call }

type Uses = {
  outbound: Outbound
  /** For the handshake. */
  connectMs: number
}

/** How much a server may answer to one request, in bytes. */
const maxBytes = 4_194_304
const goodbyeMs = 1_000

export const nothing = () => undefined

/** Loaded by the first agent that has a server. */
export const sdk = () => import('@modelcontextprotocol/client')

/** An answer that fails once it is too large. */
const bounded = (response: Response): Response => {
  if (!response.body) return response
  let size = 0
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      size += part.length
      if (size > maxBytes) controller.error(new Error('the answer is too large'))
      else controller.enqueue(part)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers })
}

/**
 * Asks the server with the headers it is configured with. Nobody listens to what it says unasked,
 * so that stream is not opened; a stream of an answer that was cut off is.
 */
const fetchWith =
  (outbound: Outbound, own: HeaderValues): Outbound['fetch'] =>
  async (url, init) => {
    const headers = new Headers(init?.headers)
    if (init?.method === 'GET' && !headers.has('last-event-id'))
      return new Response(null, { status: 405 })
    for (const [name, value] of Object.entries(own)) headers.set(name, value)
    return bounded(await outbound.fetch(url, { ...init, headers: Object.fromEntries(headers) }))
  }

/** No schema of a server's is ever compiled: results are text for the model. */
const unchecked: jsonSchemaValidator = {
  getValidator:
    <T>() =>
    (input: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: input as T,
      errorMessage: undefined,
    }),
}

/** Begins to connect at once. */
export const connection = (
  { server, headers }: McpPlace,
  { outbound, connectMs }: Uses,
): Connection => {
  const opened = sdk().then(async ({ Client, StreamableHTTPClientTransport }) => {
    const fetch = fetchWith(outbound, headers)
    const transport = new StreamableHTTPClientTransport(new URL(server.url), { fetch })
    const client = new Client(
      { name: 'reprise', version: '1' },
      { capabilities: {}, jsonSchemaValidator: unchecked, versionNegotiation: { mode: 'auto' } },
    )
    client.onerror = nothing
    try {
      await client.connect(transport, { timeout: connectMs, maxTotalTimeout: connectMs })
    } catch (error) {
      await client.close().catch(nothing)
      throw error
    }
    return { client, transport }
  })
  const client = opened.then(({ client }) => client)
  client.catch(nothing)
  return {
    client,
    async close() {
      const { client, transport } = await opened
      const late = new Promise((resolve) => setTimeout(resolve, goodbyeMs).unref())
      await Promise.race([transport.terminateSession(), late]).catch(nothing)
      await client.close()
    },
    users: 0,
    retired: false,
  }
}
