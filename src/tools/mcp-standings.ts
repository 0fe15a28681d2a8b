import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { atMost } from '../support/at-most.ts'
import type { McpServer } from './mcp-place.ts'

/** A tool that a server lists and that is not offered. */
export type LeftOut = { tool: string; reason: string }

/** Whether a server answered when it was last asked, for whomever; unknown when it never was. */
export type McpStanding = (
  | { state: 'unknown' }
  | { state: 'ok'; at: number }
  | { state: 'failing'; at: number; fault: string }
) & { leftOut?: readonly LeftOut[] }

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
  const note = (key: string, fault?: string, leftOut = known.get(key)?.leftOut): void => {
    const standing: McpStanding =
      fault === undefined ? { state: 'ok', at: now() } : { state: 'failing', at: now(), fault }
    known.set(key, leftOut && leftOut.length > 0 ? { ...standing, leftOut } : standing)
  }
  return {
    of: (organizationId: string, server: McpServer): McpStanding =>
      known.get(keyOf(organizationId, server)) ?? unknown,
    /** `fault` holds nothing secret; undefined: it answered. */
    note: (organizationId: string, server: McpServer, fault?: string): void =>
      note(keyOf(organizationId, server), fault),
    /** It listed its tools; those that are left out hold nothing secret. */
    listed: (organizationId: string, server: McpServer, leftOut: readonly LeftOut[]): void =>
      note(keyOf(organizationId, server), undefined, leftOut),
  }
}
export type McpStandings = ReturnType<typeof mcpStandings>
