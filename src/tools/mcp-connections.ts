import { createHash } from 'node:crypto'
import type { Client } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { actingUser } from '../ports/call.ts'
import { atMost } from '../support/at-most.ts'
import { type Connection, type ConnectionUses, connection, nothing, sdk } from './mcp-connection.ts'
import { listeningSlots } from './mcp-listening.ts'
import type { McpPlace } from './mcp-place.ts'

type Uses = Omit<ConnectionUses, 'listening'> & {
  /** An unused connection is closed after this long. */
  idleMs: number
}

/** The key of a connection: each user, and each value of a credential, has its own. */
const connectionKey = ({ server: { url }, headers, call }: McpPlace): string =>
  createHash('sha256')
    .update(JSON.stringify([call.organizationId, actingUser(call), url, Object.entries(headers)]))
    .digest('base64')

const sessionWords = /session/i

/** The server no longer knows the session, so it has done nothing. */
const isGone = (error: unknown): boolean => {
  if (!(error instanceof Error && 'status' in error)) return false
  if (error.status === 404) return true
  return error.status === 400 && sessionWords.test(error.message)
}

/** Servers that do not answer the probe, and how long they are not probed again. */
const ordinaryServers = { ...atMost(5_000), ttl: 3_600_000 }

const serverKey = ({ server: { url }, call }: McpPlace): string =>
  JSON.stringify([call.organizationId, url])

/** Connections to MCP servers, each kept while it is used and works. */
export const mcpConnections = (uses: Uses) => {
  const closing = new Set<Promise<void>>()
  const listening = listeningSlots()
  const ordinary = new LRUCache<string, true>(ordinaryServers)

  const connect = (place: McpPlace): Connection => {
    const server = serverKey(place)
    const entry = connection(place, { ...uses, listening }, ordinary.has(server))
    const note = (client: Client) => {
      if (client.getProtocolEra() === 'legacy') ordinary.set(server, true)
    }
    entry.client.then(note, () => ordinary.delete(server))
    return entry
  }

  const release = (entry: Connection) => {
    if (!entry.retired || entry.users > 0) return
    const closed: Promise<void> = entry
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
    dispose: (entry) => {
      entry.retired = true
      release(entry)
    },
  })

  /** A refusal by the server harms only a connection that is not yet open. */
  const used = async <T>(key: string, entry: Connection, work: (client: Client) => Promise<T>) => {
    let opened = false
    entry.users++
    entry.began()
    try {
      const client = await entry.client
      opened = true
      return await work(client)
    } catch (error) {
      const { ProtocolError } = await sdk()
      const isRefusal = opened && error instanceof ProtocolError
      if (!isRefusal && pool.peek(key) === entry) pool.delete(key)
      throw error
    } finally {
      entry.users--
      release(entry)
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
      const fresh = pool.get(key) ?? connect(place)
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
