import type { Tool } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { actingUser, type Call } from '../ports/call.ts'
import { atMost } from '../support/at-most.ts'
import { cutText } from '../support/cut-text.ts'
import { type JsonBounds, jsonFault } from '../support/json-bounds.ts'
import { wellFormedJson } from '../support/well-formed.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { type CredentialHeaders, credentialsIn } from './credential-headers.ts'
import { leftOutKey } from './mcp-answers.ts'
import type { McpConnections } from './mcp-connections.ts'
import { mcpFault } from './mcp-fault.ts'
import type { McpServer } from './mcp-place.ts'
import type { LeftOut, McpStandings } from './mcp-standings.ts'
import { type Redact, redaction } from './redaction.ts'
import { distinctName, functionName, ToolFault } from './results.ts'

type Listed = {
  name: string
  /** The tool's name for the model. */
  alias: string
  description: string
  parameters: Record<string, unknown>
  /** By the server's own word, a call may be made again. */
  repeatable: boolean
}

/**
 * Tools as a server last listed them; `fault` says why there is no newer list. A list of an earlier
 * `version` of its server is out of date.
 */
export type McpList = { tools: readonly Listed[]; at: number; version: number; fault?: string }

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
/** How many omitted tools are named to operators, and how long their names are. */
const mostNamed = 20
const longestName = 64
const longestDescription = 1_024
/** What a tool of a server may be (docs/input-costs.md). */
const toolBounds: JsonBounds = { bytes: 65_536, depth: 32, nodes: 5_000 }
const maxCharacters = 64_000_000
/** Servers, of all organizations, whose tools have changed. */
const mostVersions = 5_000
/** A list in pages takes no longer than so many answers. */
const mostAnswers = 3

const toolForModel = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
})

const parsed = (json: string) => {
  try {
    return toolForModel.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

const sizeOf = ({ tools }: McpList): number => JSON.stringify(tools).length + 100

/** A tool as models are shown it, or why it is left out. */
const toolOf = (tool: Tool, redacted: Redact): Listed | string => {
  const { name, description = name, inputSchema, annotations, _meta } = tool
  const reason = _meta?.[leftOutKey]
  if (typeof reason === 'string') return reason
  const own = { name, description, parameters: { properties: {}, ...inputSchema } }
  if (jsonFault(own, toolBounds)) return 'it is too large'
  const clean = parsed(wellFormedJson(redacted(JSON.stringify(own), toolBounds.bytes)))
  if (!clean) return 'it contains a credential'
  return {
    name,
    alias: functionName(clean.name),
    description: cutText(clean.description, longestDescription),
    parameters: clean.parameters,
    repeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
  }
}

/** Different tools whose names for the model would be equal get a digest of their own names. */
const distinct = (tools: readonly Listed[]): Listed[] => {
  const uses = new Map<string, number>()
  for (const { alias } of tools) uses.set(alias, (uses.get(alias) ?? 0) + 1)
  return tools.map((tool) =>
    tool.name === tool.alias || uses.get(tool.alias) === 1
      ? tool
      : { ...tool, alias: distinctName(tool.alias, tool.name) },
  )
}

/** The tools of a list that are offered, and those that are not. */
const sorted = async (listed: readonly Tool[], redacted: Redact) => {
  const tools: Listed[] = []
  const leftOut: LeftOut[] = []
  const names = new Set<string>()
  for (const tool of listed) {
    if (names.has(tool.name)) continue
    names.add(tool.name)
    const isFull = tools.length === mostTools
    if (isFull && leftOut.length === mostNamed) break
    const offer = isFull ? `the server has more than ${mostTools} tools` : toolOf(tool, redacted)
    if (typeof offer !== 'string') tools.push(offer)
    else if (leftOut.length < mostNamed)
      leftOut.push({ tool: redacted(tool.name, longestName), reason: offer })
    await yieldToEventLoop()
  }
  return { tools: distinct(tools), leftOut }
}

/** The tools of MCP servers, as last listed. */
export const mcpLists = (uses: Uses) => {
  const { connections, credentialHeaders, standings, now, answerMs, listMs, retryMs } = uses
  const lists = new LRUCache<string, McpList>({ maxSize: maxCharacters, sizeCalculation: sizeOf })
  const coming = new Map<string, Promise<McpList>>()

  /**
   * The key of a list: one for an organization, or one for each user whose credentials the headers
   * hold.
   */
  const listKey = ({ url, headers }: McpServer, call: Call): string => {
    const user = credentialsIn(headers).length > 0 ? actingUser(call) : null
    return JSON.stringify([call.organizationId, url, headers, user])
  }

  /** Counted whenever the tools of a server may have changed, for all of its users. */
  const versions = new LRUCache<string, number>(atMost(mostVersions))
  let lastVersion = 0

  const serverKey = ({ url, headers }: McpServer, organizationId: string): string =>
    JSON.stringify([organizationId, url, headers])

  const versionOf = (server: McpServer, { organizationId }: Call): number =>
    versions.get(serverKey(server, organizationId)) ?? 0

  const fetched = async (server: McpServer, call: Call, before?: McpList): Promise<McpList> => {
    let clean = redaction([])
    const version = versionOf(server, call)
    try {
      const { host } = new URL(server.url)
      const { headers, redacted } = await credentialHeaders(server.headers, host, call)
      clean = redacted
      const listed = await connections.use({ server, headers, call }, async (client) => {
        if (!client.getServerCapabilities()?.tools) return { tools: [] }
        const signal = AbortSignal.timeout(answerMs * mostAnswers)
        return client.listTools(undefined, { timeout: answerMs, signal, cacheMode: 'refresh' })
      })
      const { tools, leftOut } = await sorted(listed.tools, clean)
      standings.listed(call.organizationId, server, leftOut)
      return { at: now(), version, tools }
    } catch (error) {
      const tools = before?.tools ?? []
      const fault = mcpFault(error, clean)
      // That a user lacks a credential is not the server's failure.
      if (error instanceof ToolFault) return { tools, at: -Infinity, version, fault }
      standings.note(call.organizationId, server, fault)
      return { tools, at: now(), version, fault }
    }
  }

  const isFresh = (list: McpList, server: McpServer, call: Call): boolean =>
    list.version === versionOf(server, call) &&
    now() - list.at < (list.fault === undefined ? listMs : retryMs)

  return {
    /** From the cache if the list is fresh, else from the server. Never rejects. */
    async listOf(server: McpServer, call: Call): Promise<McpList> {
      const key = listKey(server, call)
      const known = lists.get(key)
      if (known && isFresh(known, server, call)) return known
      const pending =
        coming.get(key) ??
        fetched(server, call, known).then((list) => {
          lists.set(key, list)
          coming.delete(key)
          return list
        })
      coming.set(key, pending)
      return pending
    },
    /** The server may have other tools: its lists are fetched anew when they are used next. */
    outdate(server: McpServer, { organizationId }: Call): void {
      versions.set(serverKey(server, organizationId), ++lastVersion)
    },
  }
}
