import type { Tool } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { actingUser, type Call } from '../ports/call.ts'
import { type JsonBounds, jsonFault } from '../support/json-bounds.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { type CredentialHeaders, credentialsIn } from './credential-headers.ts'
import type { McpServer } from './mcp-connection.ts'
import type { McpConnections } from './mcp-connections.ts'
import { mcpFault } from './mcp-fault.ts'
import type { McpStandings } from './mcp-standings.ts'
import { type Redact, redaction } from './redaction.ts'
import { functionName, ToolFault } from './results.ts'

type Listed = {
  name: string
  /** The tool's name for the model. */
  shownAs: string
  description: string
  parameters: Record<string, unknown>
  /** By the server's own word, a call may be made again. */
  repeatable: boolean
}

/** Tools as a server last listed them; `fault` says why there is no newer list. */
export type McpList = { tools: readonly Listed[]; at: number; fault?: string }

type Uses = {
  connections: McpConnections
  credentialHeaders: CredentialHeaders
  standings: McpStandings
  /** A monotonic clock, in milliseconds. */
  now(): number
  /** For the answer to one request. */
  answerMs: number
  /** How long a list is used, and when a failed server is asked again. */
  listMs: number
  retryMs: number
}

const mostTools = 100
const longestDescription = 1_024
/** What a tool of a server may be (docs/decisions/0014-bounds.md). */
const toolBounds: JsonBounds = { bytes: 65_536, depth: 32, nodes: 5_000 }
const keptCharacters = 64_000_000

const shownTool = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
})

const parsed = (json: string) => {
  try {
    return shownTool.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

const sizeOf = ({ tools }: McpList): number => JSON.stringify(tools).length + 100

/**
 * A tool as models are shown it; none where it exceeds `toolBounds`, or is not JSON without the
 * secrets in it.
 */
const toolOf = (tool: Tool, redacted: Redact): Listed[] => {
  const { name, description = name, inputSchema, annotations } = tool
  const own = { name, description, parameters: { properties: {}, ...inputSchema } }
  if (jsonFault(own, toolBounds)) return []
  const shown = parsed(redacted(JSON.stringify(own), toolBounds.bytes))
  if (!shown) return []
  return [
    {
      name,
      shownAs: functionName(shown.name),
      description: shown.description.slice(0, longestDescription),
      parameters: shown.parameters,
      repeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
    },
  ]
}

/** The tools of MCP servers, as last listed. */
export const mcpLists = (uses: Uses) => {
  const { connections, credentialHeaders, standings, now, answerMs, listMs, retryMs } = uses
  const lists = new LRUCache<string, McpList>({ maxSize: keptCharacters, sizeCalculation: sizeOf })
  const coming = new Map<string, Promise<McpList>>()

  /**
   * The key of a list: one for an organization, or one for each user whose credentials the headers
   * hold.
   */
  const listKey = ({ url, headers }: McpServer, call: Call): string => {
    const user = credentialsIn(headers).length > 0 ? actingUser(call) : null
    return JSON.stringify([call.organizationId, url, headers, user])
  }

  const fetched = async (server: McpServer, call: Call, before?: McpList): Promise<McpList> => {
    let clean = redaction([])
    try {
      const { host } = new URL(server.url)
      const { headers, redacted } = await credentialHeaders(server.headers, host, call)
      clean = redacted
      const listed = await connections.use({ server, headers, call }, (client) =>
        client.listTools(undefined, { timeout: answerMs, cacheMode: 'refresh' }),
      )
      standings.note(call.organizationId, server)
      const tools: Listed[] = []
      for (const tool of listed.tools.slice(0, mostTools)) {
        tools.push(...toolOf(tool, clean))
        await yieldToEventLoop()
      }
      return { at: now(), tools }
    } catch (error) {
      const tools = before?.tools ?? []
      const fault = mcpFault(error, clean)
      // That a user lacks a credential is not the server's failure.
      if (error instanceof ToolFault) return { tools, at: -Infinity, fault }
      standings.note(call.organizationId, server, fault)
      return { tools, at: now(), fault }
    }
  }

  /** Without a promise if the list is known and fresh, else from the server. Never rejects. */
  return (server: McpServer, call: Call): McpList | Promise<McpList> => {
    const key = listKey(server, call)
    const known = lists.get(key)
    if (known && now() - known.at < (known.fault === undefined ? listMs : retryMs)) return known
    const asked =
      coming.get(key) ??
      fetched(server, call, known).then((list) => {
        lists.set(key, list)
        coming.delete(key)
        return list
      })
    coming.set(key, asked)
    return asked
  }
}
