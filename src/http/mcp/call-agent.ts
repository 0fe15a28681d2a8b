import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { FindAgentTool } from '../../../queries/list-agent-tools.ts'
import type { TurnDone } from '../../agents/agent-event.ts'
import { paragraphs } from '../../agents/paragraphs.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { wholeErrorOf } from '../errors/bodies.ts'
import { refusalOf } from '../errors/reply.ts'
import { doneOf } from '../streams/answer-turn.ts'
import { lifecycleOf } from '../streams/turn-frames.ts'
import { agentNamed, toolArguments } from './agent-tools.ts'
import type { Cancellations } from './cancellations.ts'

type Uses = {
  beginTurn: BeginTurn
  findAgentTool: FindAgentTool
  cancellations: Cancellations
  /** Called for every refusal of a call. */
  noteRefused(request: FastifyRequest, refusal: Refusal): void
}

type ToolRequest = { tool: string; args: unknown; context: ServerContext; modern: boolean }

/** The model reads the text, the client's program the code. */
const refused = (refusal: Refusal): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: `${refusal.message} (${refusal.code})` }],
  _meta: { 'reprise/error': wholeErrorOf(refusal) },
})

/** What a turn waits for; nothing where it is over. */
const waitingFor = ({ pending, in_doubt }: TurnDone) =>
  pending || in_doubt
    ? {
        state: in_doubt ? 'in_doubt' : 'awaiting_approval',
        ...(pending && pending.length > 0 ? { pending_approvals: [...pending] } : {}),
      }
    : {}

/** The same for a model that reads no structured content. */
const waitingWords = ({ pending = [], in_doubt }: TurnDone): string[] => [
  ...pending.map(
    ({ tool_name, agent_name, approval_id, expires_at }) =>
      `The call of ${tool_name} by ${agent_name} waits for an approval until ${expires_at} (approval_id ${approval_id}). It was not made.`,
  ),
  ...(in_doubt
    ? ['It is not known whether a call was made. The turn waits until somebody says so.']
    : []),
]

const requireArguments = (args: unknown) => {
  const { data, error } = toolArguments.safeParse(args ?? {})
  if (data) return data
  const [first] = error.issues
  const field = first?.path.join('.') || 'arguments'
  throw refusal('invalid_input', { field, message: `${field}: ${first?.message}` })
}

/**
 * What happens in the run, for clients that asked for progress. At most as many as it has steps.
 */
const tellProgress = async ({ items }: LiveTurn, { mcpReq }: ServerContext): Promise<void> => {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  let progress = 0
  for await (const batch of items.follow(0, mcpReq.signal))
    for (const item of batch) {
      if (item.event === 'token_agent' || !lifecycleOf(item)) continue
      const { event } = item
      const name = 'tool_name' in item ? item.tool_name : 'agent' in item ? item.agent : ''
      progress++
      const message = `${event} ${name}`.trim()
      const params = { progressToken, progress, message }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
}

/**
 * A call of a tool is a turn of its agent (docs/contract/mcp.md#calls). Refusals and failures are
 * results that say so. Undefined when there is no such tool.
 */
export const callAgent =
  ({ beginTurn, findAgentTool, cancellations, noteRefused }: Uses) =>
  async (
    request: FastifyRequest,
    toolRequest: ToolRequest,
  ): Promise<CallToolResult | undefined> => {
    const { context, modern } = toolRequest
    const { signal, id } = context.mcpReq
    const agent = await agentNamed(findAgentTool, request.access.organizationId, toolRequest.tool)
    if (!agent) return undefined
    let release = (): void => undefined
    try {
      const { message, session_id } = requireArguments(toolRequest.args)
      const turn = await beginTurn(request, {
        kind: 'message',
        text: message,
        parts: [],
        system: [],
        history: [],
        session: { kind: 'id', sessionId: session_id },
        agent: { kind: 'agent', agentId: agent.agent_id, anyType: true },
        delivery: 'progress',
        hidden: undefined,
        onBehalfOf: undefined,
      })
      request.answersFor = turn.sessionId
      request.forgetBody()
      release = cancellations.began(request, id, turn.cancel)
      // Clients of 2025-11-25 may lose their connection without wanting the turn cancelled.
      if (modern && signal.aborted) turn.cancel()
      else if (modern) signal.addEventListener('abort', turn.cancel, { once: true })
      const startedTurn = await turn.started
      tellProgress(startedTurn, context).catch(() => undefined)
      const done = await doneOf(startedTurn)
      const { text } = done
      const { agent_id, name: agent_name } = agent
      const { sessionId, created } = startedTurn
      return {
        content: [{ type: 'text', text: paragraphs(text, ...waitingWords(done)) }],
        structuredContent: {
          session_id: sessionId,
          agent_id,
          agent_name,
          response: text,
          created,
          ...waitingFor(done),
        },
      }
    } catch (error) {
      const known = refusalOf(error, 'agents')
      if (!known) request.log.error({ err: error }, 'a call of a tool failed')
      const problem = known ?? refusal('internal_error')
      noteRefused(request, problem)
      request.isTransient = true
      return refused(problem)
    } finally {
      release()
    }
  }
