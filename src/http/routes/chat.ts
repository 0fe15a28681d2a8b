import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindSquad } from '../../../queries/find-squad.ts'
import { idFor } from '../../ids.ts'
import type { Clock } from '../../ports/clock.ts'
import { problem } from '../../problems.ts'
import type { PastTurn } from '../../turns/past-turn.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import type { Turns } from '../../turns/turns.ts'
import { agentEventsFor, doneOf, onGone, streamTurn } from '../answer-turn.ts'
import { requireScopes } from '../authenticate.ts'
import { type ChatBody, chatBody, conversationOf } from '../chat-body.ts'
import { chatFrames, toolCallsOf, usageOf } from '../chat-stream.ts'
import type { Delegate } from '../delegate.ts'
import { refusals } from '../refusals.ts'
import { fingerprintOf, type Repeats } from '../repeats.ts'
import type { RequireSubscription } from '../subscription.ts'

type Uses = {
  turns: Turns
  pastTurn: PastTurn
  findSquad: FindSquad
  delegate: Delegate
  requireSubscription: RequireSubscription
  repeats: Repeats
  clock: Clock
}

const defaultModel = 'svc-orchestrator'

const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

const completion = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string(),
          tool_calls: z.array(toolCall).optional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      }),
    ),
    usage,
    session_id: z.string(),
  })
  .describe('The answer; with stream: true, text/event-stream of chat.completion.chunk items')

const answered = async (turn: LiveTurn, model: string) => {
  const done = await doneOf(turn)
  const tool_calls = toolCallsOf(done)
  return {
    id: `chatcmpl-${turn.runId}`,
    object: 'chat.completion' as const,
    created: turn.created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant' as const,
          content: done.text,
          ...(tool_calls ? { tool_calls } : {}),
        },
        finish_reason: done.finish_reason,
      },
    ],
    usage: usageOf(done),
    session_id: turn.sessionId,
  }
}

/** Scopes that only the body tells: checked before the body is validated (section 1, step 5). */
const scopesIn = (body: unknown): string[] => {
  const { stream, on_behalf_of } = (body ?? {}) as Partial<ChatBody>
  return [
    'orchestrator:invoke',
    ...(stream === true ? ['orchestrator:stream'] : []),
    ...(on_behalf_of ? ['users:delegate'] : []),
  ]
}

/** POST /api/external/v1/chat/completions, whole and streamed. */
export const chatRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { turns, pastTurn, findSquad, delegate, requireSubscription, repeats, clock } = uses

    http.post(
      '/chat/completions',
      {
        config: { group: 'chat', scopes: ['orchestrator:invoke'] },
        preValidation: async (request) => requireScopes(request.access, scopesIn(request.body)),
        schema: {
          tags: ['chat'],
          summary: 'Chat with the orchestrator, whole or streamed',
          body: chatBody,
          response: {
            200: completion,
            ...refusals(
              'chat',
              'missing_required_field',
              'invalid_input',
              'payload_too_large',
              'unsupported_media_type',
              'user_not_found',
              'delegation_not_allowed',
              'no_subscription',
              'invalid_plan',
              'insufficient_credits',
              'session_not_found',
              'agent_not_found',
              'agent_inactive',
              'session_busy',
              'idempotency_key_reused',
              'orchestrator_error',
              'llm_service_unavailable',
              'llm_service_timeout',
            ),
          },
        },
      },
      async (request, reply) => {
        const { body, access } = request
        const { stream, stream_options: options, model = defaultModel } = body
        const conversation = conversationOf(body)
        const viewer = await delegate(request, body.on_behalf_of)
        const payerId = await requireSubscription(access)
        const fingerprint = fingerprintOf(request)
        const cancels = options?.on_disconnect === 'cancel'
        const framesOf = (turn: LiveTurn) =>
          chatFrames(turn, {
            model,
            agentEvents: agentEventsFor(request, options?.agent_events),
            includeUsage: options?.include_usage === true,
          })

        const begin = async (): Promise<LiveTurn> => {
          const before =
            request.streamedRun ?? (fingerprint && (await repeats.before(request, fingerprint)))
          if (before) {
            const turn = turns.find(before) ?? (await pastTurn(before, { items: 0, characters: 0 }))
            if (turn) return turn
          }
          const { orchestrator, agents } = await findSquad(access.organizationId)
          const { target_agent_id } = body
          const target = target_agent_id ? agents.get(target_agent_id) : undefined
          if (target_agent_id && !target) throw problem('agent_not_found')
          if (target && !target.isActive) throw problem('agent_inactive')
          const { call } = request
          const turn = turns.send(
            {
              call,
              viewer,
              payerId,
              sessionId: body.session_id ?? idFor(clock, call, 'session'),
              hidden: body.session_hidden,
              messageId: idFor(clock, call, 'message'),
              agent: orchestrator,
              agents,
              ...conversation,
              ...(target ? { target } : {}),
              ...(fingerprint ? { fingerprint } : {}),
              ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
              ...maxTokensOf(body),
            },
            { keep: stream === true || fingerprint !== undefined },
          )
          if (fingerprint) repeats.note(fingerprint, turn)
          return turn
        }

        const turn = await begin()
        request.answersFor = turn.sessionId
        if (stream) return streamTurn(request, reply, { turn, framesOf, cancels })
        onGone(reply, turn, cancels)
        return answered(await turn.started, model)
      },
    )
  }

const maxTokensOf = ({ max_completion_tokens, max_tokens }: ChatBody) => {
  const maxTokens = max_completion_tokens ?? max_tokens
  return maxTokens === undefined ? {} : { maxTokens }
}
