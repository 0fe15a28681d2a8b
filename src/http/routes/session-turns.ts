import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindSession } from '../../../queries/find-session.ts'
import type { FindAgents } from '../../caches/find-agents.ts'
import { refusal } from '../../domain/refusal.ts'
import type { ReadMeter } from '../../metering/read-meter.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FindOrResumeTurn } from '../../turns/resume/find-or-resume-turn.ts'
import type { Turns } from '../../turns/run/turns.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { refusals } from '../errors/responses.ts'
import { routeOf } from '../server/route-rules.ts'
import { agentFormat } from '../streams/agent-format.ts'
import { streamOptions } from '../streams/answer-turn.ts'
import { type ChatStream, chatFormat } from '../streams/chat-format.ts'
import { findFollowedTurn } from '../streams/followed-turn.ts'
import { endingOf, sendStream } from '../streams/sse.ts'
import { type StreamFormat, turnFrames } from '../streams/turn-frames.ts'
import { boolean, modelName, pathSessionId } from '../wire/fields.ts'
import { bodyOnBehalfOf, queryOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  turns: Turns
  findOrResumeTurn: FindOrResumeTurn
  findSession: FindSession
  findAgents: FindAgents
  /** The model of agents that name none. */
  defaultModel: string
  messagesRead: ReadMeter['messagesRead']
  clock: Clock
}

const params = z.object({ session_id: pathSessionId })

const reattach = z.object({
  ...queryOnBehalfOf.shape,
  agent_events: z.enum(['plain', 'chunk', 'none']).optional(),
  on_error: z.enum(['close', 'frame']).optional(),
  include_usage: boolean.default(false),
  model: modelName.default('svc-orchestrator'),
})

/**
 * The running turn of a session: following it again, and stopping it
 * (docs/contract/streaming.md#following-a-turn-again).
 */
export const sessionTurnRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { turns, findOrResumeTurn, findSession, findAgents, defaultModel, clock } = uses
    const { messagesRead } = uses
    const findFollowed = findFollowedTurn({ turns, findOrResumeTurn, clock })
    const tags = ['sessions']

    /**
     * The format in which the turn was streamed first: an agent's completion, or the orchestrator's
     * chat.
     */
    const formatOf = async (turn: LiveTurn, chat: ChatStream): Promise<StreamFormat> => {
      const { organizationId, agentId } = turn
      const { orchestrator, agents } = await findAgents(organizationId, { agentId })
      const agent = agentId === undefined ? undefined : agents.get(agentId)
      if (!agent || agent === orchestrator) return chatFormat(turn, chat)
      const { name: agentName, model } = agent
      const named = { agentId: agent.agentId, agentName, model: model ?? defaultModel }
      return agentFormat(turn, named, chat.closesOnError)
    }

    http.get(
      '/sessions/:session_id/stream',
      {
        config: { scopes: ['sessions:messages'], streams: 'always', delegates: 'query' },
        schema: {
          tags,
          summary: 'Follow the running turn again, from Last-Event-ID or from its start',
          params,
          querystring: reattach,
          response: {
            200: z.string().describe('A stream of chunks, as the turn was streamed at first'),
            ...refusals(
              'detail',
              'session_not_found',
              'stream_not_found',
              'user_not_found',
              'invalid_filter',
              'delegation_not_allowed',
            ),
          },
        },
      },
      async (request, reply) => {
        const { include_usage, model } = request.query
        const { organizationId } = request.access
        const sessionId = request.params.session_id
        const { call, viewer } = request.delegated
        const { run, last_update_time } = await findSession({ organizationId, viewer, sessionId })
        const followed = await findFollowed(
          { organizationId, sessionId, run, last_update_time },
          request.headers['last-event-id'],
        )
        if (!followed) throw refusal('stream_not_found')
        messagesRead(call, { route: routeOf(request), sessionId })
        const options = {
          model,
          ...streamOptions(request, request.query),
          includeUsage: include_usage,
        }
        const { turn, from } = followed
        const format = await formatOf(turn, options)
        return sendStream(reply, turnFrames(turn, format, from, endingOf(reply)))
      },
    )

    http.post(
      '/sessions/:session_id/cancel',
      {
        config: { scopes: ['orchestrator:invoke'], delegates: 'body' },
        schema: {
          tags,
          summary: 'Cancel the running turn and those that wait',
          params,
          body: bodyOnBehalfOf.nullish(),
          response: {
            200: z.object({ session_id: z.string(), cancelled: z.boolean() }),
            ...refusals(
              'detail',
              'session_not_found',
              'user_not_found',
              'delegation_not_allowed',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { organizationId } = request.access
        const sessionId = request.params.session_id
        const { call, viewer } = request.delegated
        await findSession({ organizationId, viewer, sessionId })
        const cancelled = await turns.cancel({ organizationId, sessionId }, call)
        return { session_id: sessionId, cancelled }
      },
    )
  }
