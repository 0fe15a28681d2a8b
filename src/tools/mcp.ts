import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Reached } from '../agents/agent-event.ts'
import type { Tool, ToolContext, ToolResult } from '../agents/tool.ts'
import { credentialNamesIn } from '../domain/agent/credential-names.ts'
import type { ToolCare } from '../domain/agent/events.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Outbound } from '../ports/outbound.ts'
import type { CredentialHeaders } from './credential-headers.ts'
import { unreadable } from './mcp-answers.ts'
import { mcpChecks } from './mcp-checks.ts'
import { mcpConnections } from './mcp-connections.ts'
import { callFault, mcpFault } from './mcp-fault.ts'
import { type McpList, mcpLists } from './mcp-lists.ts'
import type { McpServer } from './mcp-place.ts'
import { mcpStandings } from './mcp-standings.ts'
import { redaction } from './redaction.ts'
import { failure, functionName, success, ToolFault } from './results.ts'
import { definitionOf, policyOf } from './tool-policy.ts'

type Uses = {
  outbound: Outbound
  credentialHeaders: CredentialHeaders
  clock: Pick<Clock, 'now' | 'monotonic'>
  /** To connect or to list tools, and for one call. */
  connectMs?: number
  callMs?: number
  /** How long a server is waited for that may not know the newest protocol. */
  probeMs?: number
  /** At least so long until a stream that was cut off is opened again. */
  reconnectMs?: number
  /** How long a list of tools is used, and when a failed server is asked again. */
  listMs?: number
  retryMs?: number
  /** An unused connection is closed after this long. */
  idleMs?: number
}

/** What is said of a tool, and of its server where nothing is said of the tool. */
const careOf = ({ tools = {}, ...server }: McpServer, name: string): ToolCare => {
  const own = Object.hasOwn(tools, name) ? tools[name] : {}
  return { ...server, ...own }
}

/** The tools of one server, and the server's name. */
export type McpTools = { server: string; tools: readonly Tool[] }

const protocolCode = (error: unknown): unknown =>
  error instanceof Error && error.name === 'ProtocolError' && 'code' in error
    ? error.code
    : undefined

/** Whether an error says that the server cannot be asked, rather than that it refuses a call. */
const isOfServer = (error: unknown): boolean => {
  const code = protocolCode(error)
  return !(error instanceof ToolFault) && (code === undefined || code === unreadable)
}

/** Codes by which servers refuse a tool that they no longer have. */
const refusesCall = (error: unknown): boolean => {
  const code = protocolCode(error)
  return code === -32_602 || code === -32_601
}

/** Others say it in a result, in the words of the protocol's packages. */
const unknownTool = /-32602|\b(?:unknown|no such) tool\b|\btool\b.{0,100}\bnot found\b/i
const isOfUnknownTool = (text: string): boolean => unknownTool.test(text.slice(0, 300))

/** Results are texts in their regular form. */
const resultText = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

/**
 * The tools of MCP servers (Streamable HTTP), called for the acting user. A server that fails gives
 * one tool whose result says why, and the turn goes on.
 */
export const mcpTools = (uses: Uses) => {
  const { outbound, credentialHeaders, clock, connectMs = 5_000, callMs = 30_000 } = uses
  const { listMs = 300_000, retryMs = 15_000, idleMs = 300_000, reconnectMs = 1_000 } = uses
  const { probeMs = 2_000 } = uses
  const connections = mcpConnections({
    outbound,
    connectMs,
    probeMs,
    reconnectMs,
    idleMs,
    changed: ({ server, call }) => lists.outdate(server, call),
  })
  const standings = mcpStandings(() => clock.now().getTime())
  const times = { now: clock.monotonic, answerMs: connectMs, listMs, retryMs }
  const lists = mcpLists({ connections, credentialHeaders, standings, ...times })
  const checks = mcpChecks(lists.listOf)

  const called = async (
    server: McpServer,
    name: string,
    args: Readonly<Record<string, unknown>>,
    { turn: { call }, signal }: ToolContext,
  ): Promise<ToolResult> => {
    let clean = redaction([])
    let reached: Reached | undefined
    let isSent = false
    const noted = (result: ToolResult): ToolResult => (reached ? { ...result, reached } : result)
    try {
      const { host } = new URL(server.url)
      const { headers, redacted } = await credentialHeaders(server.headers, host, call)
      clean = redacted
      const credentials = Object.values(server.headers).flatMap(credentialNamesIn)
      reached = { host, ...(credentials.length > 0 ? { credentials } : {}) }
      const request = { name, arguments: { ...args } }
      const limits = { signal, timeout: callMs, maxTotalTimeout: callMs }
      const result = await connections.use({ server, headers, call }, (client) => {
        isSent = true
        return client.callTool(request, limits)
      })
      standings.note(call.organizationId, server)
      const text = clean(resultText(result))
      if (result.isError && isOfUnknownTool(text)) lists.outdate(server, call)
      return noted(result.isError ? failure(text || `${name} failed`) : success(text || 'Done.'))
    } catch (error) {
      const fault = mcpFault(error, clean)
      if (isOfServer(error) && !signal.aborted) standings.note(call.organizationId, server, fault)
      if (refusesCall(error)) lists.outdate(server, call)
      return noted(failure(`${server.name}: ${isSent ? callFault(error, clean) : fault}`))
    }
  }

  const toolsIn = (server: McpServer, { tools, fault }: McpList): McpTools => {
    const offered = tools.map(
      ({ name, alias, description, parameters, repeatable }): Tool => ({
        spec: { name: alias, description, parameters },
        policy: policyOf(careOf(server, name), {
          effect: repeatable ? 'read' : 'write',
        }),
        definition: definitionOf([server.url, Object.entries(server.headers), name]),
        run: (args, context) => called(server, name, args, context),
      }),
    )
    if (offered.length > 0 || fault === undefined) return { server: server.name, tools: offered }
    const spec = {
      name: functionName(server.name),
      description: `The tools of ${server.name}, which cannot be reached at the moment`,
      parameters: { type: 'object', properties: {} },
    }
    const run = async () => failure(`${server.name}: ${fault}`)
    return { server: server.name, tools: [{ spec, run }] }
  }

  return {
    /** Never rejects. */
    toolsOf: (servers: readonly McpServer[], call: Call): Promise<McpTools[]> =>
      Promise.all(servers.map(async (server) => toolsIn(server, await lists.listOf(server, call)))),
    /** How a server answered when it was last asked. */
    standingOf: standings.of,
    /** Asks servers in the background, for the tools that they have now. */
    check(servers: readonly McpServer[], call: Call): void {
      for (const server of servers) lists.outdate(server, call)
      checks.check(servers, call)
    },
    async close(): Promise<void> {
      checks.close()
      await connections.close()
    },
  }
}
