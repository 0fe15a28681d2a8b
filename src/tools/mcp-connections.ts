import { createHash } from 'node:crypto'
import type {
  Client,
  JsonSchemaValidatorResult,
  jsonSchemaValidator,
} from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import type { AgentConfig } from '../agents/agent.ts'
import { actingUser, type Call } from '../ports/call.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { HeaderValues } from './credential-headers.ts'

export type McpServer = AgentConfig['mcpServers'][number]

/** A connection, who uses it, and whether the last of them shall close it. */
type Connection = {
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
  /** An unused connection is closed after this long. */
  idleMs: number
}

/** How much a server may answer to one request, in bytes. */
const maxBytes = 4_194_304
const goodbyeMs = 1_000

const nothing = () => undefined

/** Loaded by the first agent that has a server. */
const sdk = () => import('@modelcontextprotocol/client')

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

const connection = ({ server, headers }: McpPlace, { outbound, connectMs }: Uses): Connection => {
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

/** No two users share one, and no two values of a credential. */
const keyOf = ({ server: { url }, headers, call }: McpPlace): string =>
  createHash('sha256')
    .update(JSON.stringify([call.organizationId, actingUser(call), url, Object.entries(headers)]))
    .digest('base64')

/** The session is no longer known to the server, which has therefore done nothing. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 404

/** Connections to MCP servers, each kept as long as it is used and works. */
export const mcpConnections = (uses: Uses) => {
  const closing = new Set<Promise<void>>()

  const release = (one: Connection) => {
    if (!one.retired || one.users > 0) return
    const closed: Promise<void> = one
      .close()
      .catch(nothing)
      .then(() => {
        closing.delete(closed)
      })
    closing.add(closed)
  }

  const pool = new LRUCache<string, Connection>({
    max: 500,
    ttl: uses.idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (one) => {
      one.retired = true
      release(one)
    },
  })

  /** What the server itself refuses leaves the connection as good as it was. */
  const used = async <T>(key: string, one: Connection, work: (client: Client) => Promise<T>) => {
    one.users++
    try {
      return await work(await one.client)
    } catch (error) {
      const { ProtocolError } = await sdk()
      if (!(error instanceof ProtocolError) && pool.peek(key) === one) pool.delete(key)
      throw error
    } finally {
      one.users--
      release(one)
    }
  }

  return {
    /** Asks a server, over a new connection where there is none or its session has ended. */
    async use<T>(place: McpPlace, work: (client: Client) => Promise<T>): Promise<T> {
      const key = keyOf(place)
      const known = pool.get(key)
      if (known) {
        try {
          return await used(key, known, work)
        } catch (error) {
          if (!isGone(error)) throw error
        }
      }
      const fresh = pool.get(key) ?? connection(place, uses)
      pool.set(key, fresh)
      return used(key, fresh, work)
    },
    async close(): Promise<void> {
      pool.clear()
      await Promise.all(closing)
    },
  }
}

export type McpConnections = ReturnType<typeof mcpConnections>
