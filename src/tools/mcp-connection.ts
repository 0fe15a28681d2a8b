import type {
  Client,
  JsonSchemaValidatorResult,
  jsonSchemaValidator,
  Transport,
} from '@modelcontextprotocol/client'
import type { AgentConfig } from '../agents/agent.ts'
import type { Call } from '../ports/call.ts'
import { type Outbound, OutboundRefused } from '../ports/outbound.ts'
import { jsonCounter } from '../support/json-text.ts'
import type { HeaderValues } from './credential-headers.ts'
import { narrowed } from './mcp-answers.ts'

export type McpServer = AgentConfig['mcpServers'][number]

/** A connection, the number of its users, and whether the last of them closes it. */
export type Connection = {
  client: Promise<Client>
  /** A request begins: its answer's stream may be cut off as often as any other's. */
  began(): void
  close(): Promise<void>
  users: number
  retired: boolean
}

/** A connection's server and user: the headers hold the user's own credentials. */
export type McpPlace = { server: McpServer; headers: HeaderValues; call: Call }

type Uses = {
  outbound: Outbound
  /** For the handshake. */
  connectMs: number
  /**
   * A stream that was cut off is opened again after this long, or longer where the server says so.
   */
  reconnectMs: number
}

/** How much a server may answer to one request, in bytes and in values of JSON. */
const maxBytes = 4_194_304
const maxJson = { depth: 64, nodes: 50_000 }
const goodbyeMs = 1_000
/**
 * How often a stream is opened again for one request, and the longest wait that a server may ask
 * for.
 */
const mostReconnects = 5
const longestReconnectMs = 30_000

export const nothing = () => undefined

/** Loaded when the first agent has a server. */
export const sdk = () => import('@modelcontextprotocol/client')

/** An answer that fails once it is too large. */
const bounded = (response: Response): Response => {
  if (!response.body) return response
  let size = 0
  const exceeds = jsonCounter(maxJson)
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      size += part.length
      if (size > maxBytes || exceeds(part)) controller.error(new Error('the answer is too large'))
      else controller.enqueue(part)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers })
}

/**
 * Sends the configured headers, to the server's own host and no other. The stream for messages that
 * the server sends by itself is not opened, as nothing reads it; the stream of an answer that was
 * cut off is opened again.
 */
const fetchWith =
  (outbound: Outbound, { server, headers: own }: McpPlace): Outbound['fetch'] =>
  async (url, init) => {
    if (new URL(url).host !== new URL(server.url).host)
      throw new OutboundRefused('it leads to another host, which is not followed')
    const headers = new Headers(init?.headers)
    if (init?.method === 'GET' && !headers.has('last-event-id'))
      return new Response(null, { status: 405 })
    for (const [name, value] of Object.entries(own)) headers.set(name, value)
    return bounded(await outbound.fetch(url, { ...init, headers: Object.fromEntries(headers) }))
  }

type Listener = Transport['onmessage']

/**
 * Narrows every message before the protocol's package looks at it, which chains and restores
 * listeners.
 */
const narrow = (transport: Transport): void => {
  const ours = new WeakSet<NonNullable<Listener>>()
  const narrowing = (listener: NonNullable<Listener>): NonNullable<Listener> => {
    if (ours.has(listener)) return listener
    const narrower: NonNullable<Listener> = (message, extra) => {
      const told = narrowed(message)
      if (told) listener(told, extra)
    }
    ours.add(narrower)
    return narrower
  }
  let current: Listener
  Object.defineProperty(transport, 'onmessage', {
    get: () => current,
    set(listener: Listener) {
      current = listener && narrowing(listener)
    },
  })
}

/** The server's schemas are not compiled: results are text for the model. */
const unchecked: jsonSchemaValidator = {
  getValidator:
    <T>() =>
    (input: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: input as T,
      errorMessage: undefined,
    }),
}

/** Connects at once, without being asked. */
export const connection = (
  place: McpPlace,
  { outbound, connectMs, reconnectMs }: Uses,
): Connection => {
  let reconnects = 0
  /** Bounds reconnects, whatever `retry` the server sends and however often it cuts a stream. */
  const reconnectionScheduler = (reconnect: () => void, asked: number) => {
    if (++reconnects > mostReconnects) throw new Error('the answer was cut off too often')
    const ms = Math.min(Math.max(asked, reconnectMs), longestReconnectMs)
    const timer = setTimeout(reconnect, ms).unref()
    return () => clearTimeout(timer)
  }
  const opened = sdk().then(async ({ Client, StreamableHTTPClientTransport }) => {
    const fetch = fetchWith(outbound, place)
    const url = new URL(place.server.url)
    const transport = new StreamableHTTPClientTransport(url, { fetch, reconnectionScheduler })
    narrow(transport)
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
    began() {
      reconnects = 0
    },
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
