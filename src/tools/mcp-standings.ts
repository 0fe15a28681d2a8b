import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { atMost } from '../support/at-most.ts'
import type { McpServer } from './mcp-connection.ts'

/** Whether a server answered when it was last asked, for whomever; unknown when it never was. */
export type McpStanding =
  | { state: 'unknown' }
  | { state: 'ok'; at: number }
  | { state: 'failing'; at: number; fault: string }

/** Servers, of all organizations, of which the standing is known. */
const most = 5_000

const unknown: McpStanding = { state: 'unknown' }

const keyOf = (organizationId: string, { url, headers }: McpServer): string =>
  createHash('sha256')
    .update(JSON.stringify([organizationId, url, headers]))
    .digest('base64')

/** How MCP servers answered this process; `now` is wall time in milliseconds. */
export const mcpStandings = (now: () => number) => {
  const known = new LRUCache<string, McpStanding>(atMost(most))
  return {
    of: (organizationId: string, server: McpServer): McpStanding =>
      known.get(keyOf(organizationId, server)) ?? unknown,
    /** `fault` holds nothing secret; undefined: it answered. */
    note(organizationId: string, server: McpServer, fault?: string): void {
      const standing: McpStanding =
        fault === undefined ? { state: 'ok', at: now() } : { state: 'failing', at: now(), fault }
      known.set(keyOf(organizationId, server), standing)
    },
  }
}
export type McpStandings = ReturnType<typeof mcpStandings>
