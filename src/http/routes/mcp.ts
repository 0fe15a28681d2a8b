import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { FindAgentTool, ListAgentTools } from '../../../queries/list-agent-tools.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { requireScopes } from '../../security/scopes.ts'
import { cutText } from '../../support/cut-text.ts'
import { type Fields, hasFields } from '../../support/fields.ts'
import { jsonFault } from '../../support/json-bounds.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import { toolsPage } from '../mcp/agent-tools.ts'
import { callAgent } from '../mcp/call-agent.ts'
import { cancellations as cancellationsOf } from '../mcp/cancellations.ts'
import { sendResponse, webRequest } from '../mcp/exchange.ts'
import { requireOrigin } from '../mcp/origins.ts'
import { endingOf } from '../streams/sse.ts'

type Uses = {
  beginTurn: BeginTurn
  listAgentTools: ListAgentTools
  findAgentTool: FindAgentTool
  noteRefused(request: FastifyRequest, refusal: Refusal): void
  /** Of web pages that may call; others are refused. */
  origins: readonly string[]
  version: string
  clock: Clock
}

/** The largest request: as much as a message may have, with room for what JSON escapes. */
const bodyLimit = 4 * 1024 * 1024

const instructions =
  'Each tool is an agent. It answers the message; to go on with a conversation, pass the session_id of its result.'

const fault = (id: unknown, code: number, message: string) => ({
  jsonrpc: '2.0',
  id: typeof id === 'string' || typeof id === 'number' ? id : null,
  error: { code, message },
})

/** Of a message, and of what it is besides the arguments of a call. */
const mostValues = 10_000
const besideArguments = { nodes: 2_000, depth: 32 }

/**
 * The protocol's package reports every error of a message: one is counted first. @throws
 * too_complex
 */
const requireBounds = (body: Fields): void => {
  const { params } = body
  const beside = hasFields(params) ? { ...body, params: { ...params, arguments: null } } : body
  const message = jsonFault(beside, besideArguments)
  if (message) throw refusal('too_complex', { message: `The message has ${message}` })
}

/**
 * POST /api/external/mcp: the organization's agents as tools of an MCP server, over Streamable
 * HTTP (docs/contract/mcp.md). Nothing is kept between requests.
 */
export const mcpRoutes =
  (uses: Uses): FastifyPluginAsync =>
  async (http) => {
    const { listAgentTools, version, clock } = uses
    const cancellations = cancellationsOf()
    const call = callAgent({ ...uses, cancellations })
    const requests = new WeakMap<Request, FastifyRequest>()

    /** Loaded when the first client comes. */
    const load = async (): Promise<McpHttpHandler> => {
      const sdk = await import('@modelcontextprotocol/server')
      return sdk.createMcpHandler(
        ({ era, requestInfo }) => {
          const request = requestInfo && requests.get(requestInfo)
          if (!request) throw new Error('a request of the protocol is not one of ours')
          const about = { name: 'reprise', title: 'Reprise', version }
          const server = new sdk.Server(about, { capabilities: { tools: {} }, instructions })
          server.setRequestHandler('tools/list', async ({ params }) => {
            const { organizationId } = request.access
            return toolsPage(await listAgentTools(organizationId, params?.cursor))
          })
          server.setRequestHandler('tools/call', async ({ params }, context) => {
            const { name: tool, arguments: args } = params
            const result = await call(request, { tool, args, context, modern: era === 'modern' })
            if (result) return result
            const data = { code: 'agent_not_found' }
            throw new sdk.ProtocolError(-32602, `Unknown tool: ${cutText(tool, 128)}`, data)
          })
          return server
        },
        { keepAliveMs: http.keepAliveMs, maxSubscriptions: 1 },
      )
    }
    let loading: Promise<McpHttpHandler> | undefined

    http.post(
      '/mcp',
      {
        // The protocol's package refuses what it cannot answer with.
        config: { group: 'agents', scopes: ['agents:invoke'], answers: 'any', mostValues },
        bodyLimit,
        onRequest: requireOrigin(uses.origins),
        schema: { hide: true },
      },
      async (request, reply) => {
        const { body } = request
        if (Array.isArray(body))
          return reply.code(400).send(fault(null, -32600, 'Batches are not supported'))
        if (hasFields(body)) requireBounds(body)
        const { method, id } = hasFields(body) ? body : {}
        // A stream without an end, for changes that are not told.
        if (method === 'subscriptions/listen')
          return reply.code(404).send(fault(id, -32601, 'Method not found'))
        if (method === 'tools/list') requireScopes(request.access, ['agents:list'])
        cancellations.see(request)
        loading ??= load()
        const handler = await loading
        const fetchRequest = webRequest(request, endingOf(reply))
        requests.set(fetchRequest, request)
        const response = await handler.fetch(fetchRequest, { parsedBody: body })
        if (method === 'initialize' && response.ok) reply.header('mcp-session-id', clock.id())
        return sendResponse(reply, response)
      },
    )
  }
