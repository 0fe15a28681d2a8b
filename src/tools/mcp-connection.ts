import type {
  Client,
  JsonSchemaValidatorResult,
  jsonSchemaValidator,
} from '@modelcontextprotocol/client'
import { mcpFetch, type Way } from './mcp-fetch.ts'
import type { McpPlace } from './mcp-place.ts'

/** A connection, the number of its users, and whether the last of them closes it. */
export type Connection = {
  client: Promise<Client>
  /** A request begins: its answer's stream may be cut off as often as any other's. */
  began(): void
  close(): Promise<void>
  users: number
  retired: boolean
}

export type ConnectionUses = Way & {
  /** For the handshake. */
  connectMs: number
  /**
   * A stream that was cut off is opened again after this long, or longer where the server says so.
   */
  reconnectMs: number
  /** The server says that it has other tools than before. */
  changed(place: McpPlace): void
}

const goodbyeMs = 1_000
/** The longest wait that a server may ask for before a stream is opened again. */
const longestReconnectMs = 30_000

export const nothing = () => undefined

/** Loaded when the first agent has a server. */
export const sdk = () => import('@modelcontextprotocol/client')

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

/**
 * Connects at once, without being asked. With `isOrdinary`, the server is not probed.
 */
export const connection = (
  place: McpPlace,
  { connectMs, reconnectMs, changed, ...way }: ConnectionUses,
  isOrdinary: boolean,
): Connection => {
  const { fetch, began, listens } = mcpFetch(place, way)

  const reconnectionScheduler = (reconnect: () => void, requestedMs: number) => {
    const ms = Math.min(Math.max(requestedMs, reconnectMs), longestReconnectMs)
    const timer = setTimeout(reconnect, ms).unref()
    return () => clearTimeout(timer)
  }

  const opened = sdk().then(async ({ Client, StreamableHTTPClientTransport }) => {
    const url = new URL(place.server.url)
    const transport = new StreamableHTTPClientTransport(url, { fetch, reconnectionScheduler })
    const onChanged = () => changed(place)
    const client = new Client(
      { name: 'reprise', version: '1' },
      {
        capabilities: {},
        jsonSchemaValidator: unchecked,
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: way.probeMs + connectMs } },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      },
    )
    client.onerror = nothing
    client.setNotificationHandler('notifications/tools/list_changed', onChanged)
    listens(() => client.getServerCapabilities()?.tools?.listChanged === true)
    try {
      await client.connect(transport, {
        timeout: connectMs,
        maxTotalTimeout: connectMs,
        ...(isOrdinary ? { prior: { kind: 'legacy' } } : {}),
      })
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
    began,
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
