import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindTurnAgent } from '../../../queries/find-turn-agent.ts'
import { orchestratorModel } from '../../../queries/list-models.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Delegate } from '../../security/delegate.ts'
import type { BeginTurn } from '../../turns/begin-turn.ts'
import type { ForkSessions } from '../../turns/fork-sessions.ts'
import { requireFor } from '../checks/authenticate.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { refusals } from '../errors/responses.ts'
import { answerChat, completion } from '../streams/answer-chat.ts'
import { answerFormatOf, requireUsable } from '../wire/answer-format.ts'
import { chatBody } from '../wire/chat.ts'
import { offeredTools } from '../wire/client-tools.ts'
import { orAbsent, sessionId } from '../wire/fields.ts'
import { modelSettingsOf } from '../wire/model-settings.ts'

type Uses = {
  forkSessions: Pick<ForkSessions, 'fork'>
  beginTurn: BeginTurn
  findTurnAgent: FindTurnAgent
  schemaFault: JsonSchemas['faultOf']
  delegate: Delegate
  waitForPosition: WaitForPosition
}

const params = z.object({ session_id: sessionId })
const eventId = z.string().min(1).max(128)
const scopes = ['orchestrator:invoke', 'sessions:messages']

const forkBody = z
  .object({
    after: orAbsent(eventId),
    session_id: orAbsent(sessionId),
    on_behalf_of: orAbsent(z.string().min(1)),
  })
  .nullish()

/** As a chat's body: the messages are the session's own. `session_id` is the fork's. */
const regenerateFields = chatBody.omit({ messages: true, session_hidden: true })
const regenerateBody = regenerateFields.nullish()
const noFields = regenerateFields.parse({})

/** Scopes that depend on the body. */
const scopesIn = (body: unknown): string[] => {
  const { stream, on_behalf_of } = (body ?? {}) as { stream?: unknown; on_behalf_of?: unknown }
  return [
    ...scopes,
    ...(stream === true ? ['orchestrator:stream'] : []),
    ...(on_behalf_of ? ['users:delegate'] : []),
  ]
}

/** Forks of sessions, and turns asked again in one (docs/contract/sessions.md#forks). */
export const sessionForkRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { forkSessions, beginTurn, findTurnAgent, schemaFault, delegate, waitForPosition } = uses
    const tags = ['sessions']

    http.post(
      '/sessions/:session_id/fork',
      {
        config: { scopes },
        schema: {
          tags,
          summary: 'Fork a session: a session of its own with the messages up to one of them',
          params,
          body: forkBody,
          response: {
            201: z.object({
              session_id: z.string(),
              forked_from: z.string(),
              after: z.string().nullable(),
            }),
            ...refusals(
              'detail',
              'invalid_body',
              'session_not_found',
              'message_not_found',
              'session_exists',
              'user_not_found',
              'delegation_not_allowed',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { after, session_id, on_behalf_of } = request.body ?? {}
        const { call, viewer } = await delegate(request, on_behalf_of)
        const forked = await forkSessions.fork(
          {
            viewer,
            sessionId: request.params.session_id,
            at: { after: after ?? null },
            forkSessionId: session_id,
          },
          call,
        )
        request.answersFor = forked.sessionId
        await waitForPosition(forked.position)
        reply.code(201)
        return { session_id: forked.sessionId, forked_from: forked.forkedFrom, after: forked.after }
      },
    )

    http.post(
      '/sessions/:session_id/messages/:event_id/regenerate',
      {
        config: { group: 'chat', scopes, streams: 'asked' },
        preValidation: (request, _reply, done) => {
          try {
            requireFor(request, scopesIn(request.body))
            done()
          } catch (error) {
            done(error as Error)
          }
        },
        schema: {
          tags,
          summary: 'Ask the turn of a message again, in a fork that ends before it',
          params: params.extend({ event_id: eventId }),
          body: regenerateBody,
          response: {
            200: completion,
            ...refusals(
              'chat',
              'invalid_input',
              'unsupported_parameter',
              'user_not_found',
              'delegation_not_allowed',
              'no_subscription',
              'invalid_plan',
              'insufficient_credits',
              'session_not_found',
              'message_not_found',
              'session_exists',
              'agent_not_found',
              'agent_inactive',
              'invalid_tool',
              'tool_name_taken',
              'session_busy',
              'idempotency_key_reused',
              'orchestrator_error',
              'model_misconfigured',
              'context_length_exceeded',
              'invalid_model_output',
              'llm_service_unavailable',
              'llm_service_timeout',
            ),
          },
        },
      },
      async (request, reply) => {
        const body = request.body ?? noFields
        const { stream, stream_options: options, model, target_agent_id: targetAgentId } = body
        const { organizationId } = request.access
        const { session_id: source, event_id } = request.params
        const format = answerFormatOf(body.response_format)
        if (format) await requireUsable(format, organizationId, schemaFault)
        const agentId =
          targetAgentId || model ? undefined : await findTurnAgent(organizationId, event_id)
        const asked = {
          message: '',
          sessionId: undefined,
          forks: async ({ call, viewer }: Awaited<ReturnType<Delegate>>) =>
            forkSessions.fork(
              {
                viewer,
                sessionId: source,
                at: { beforeTurnOf: event_id },
                forkSessionId: body.session_id,
              },
              call,
            ),
          hidden: undefined,
          onBehalfOf: body.on_behalf_of,
          targetAgentId,
          model,
          ...(agentId ? { agentId, anyAgentType: true as const } : {}),
          clientTools: offeredTools(body),
          settings: modelSettingsOf(body),
          format,
          keep: stream === true,
        }
        const turn = await beginTurn(request, asked, repetitionOf(request))
        request.answersFor = turn.sessionId
        return answerChat(request, reply, {
          turn,
          model: model ?? orchestratorModel,
          stream: stream === true,
          options,
        })
      },
    )
  }
