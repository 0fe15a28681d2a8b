import { createHash } from 'node:crypto'
import type { Client } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { actingUser } from '../ports/call.ts'
import type { Outbound } from '../ports/outbound.ts'
import { type Connection, connection, type McpPlace, nothing, sdk } from './mcp-connection.ts'

type Uses = {
  outbound: Outbound
  /** For the handshake. */
  connectMs: number
  reconnectMs: number
  /** An unused connection is closed after this long. */
  idleMs: number
}

/** The key of a connection: each user, and each value of a credential, has its own. */
const connectionKey = ({ server: { url }, headers, call }: McpPlace): string =>
  createHash('sha256')
    .update(JSON.stringify([call.organizationId, actingUser(call), url, Object.entries(headers)]))
    .digest('base64')

/** The server no longer knows the session, so it has done nothing. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 404

/** Connections to MCP servers, each kept while it is used and works. */
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

  /** A refusal by the server does not harm the connection. */
  const used = async <T>(key: string, one: Connection, work: (client: Client) => Promise<T>) => {
    one.users++
    one.began()
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
      const key = connectionKey(place)
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
