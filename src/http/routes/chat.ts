import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { orchestratorModel } from '../../../queries/list-models.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { BeginTurn } from '../../turns/begin-turn.ts'
import { requireFor } from '../checks/authenticate.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { refusals } from '../errors/responses.ts'
import { answerChat, completion } from '../streams/answer-chat.ts'
import { answerFormatOf, requireUsable } from '../wire/answer-format.ts'
import { type ChatBody, chatBody, conversationOf } from '../wire/chat.ts'
import { offeredTools } from '../wire/client-tools.ts'
import { modelSettingsOf } from '../wire/model-settings.ts'

/**
 * Scopes that depend on the body; checked before the body is validated
 * (docs/contract/requests.md#scopes).
 */
const scopesIn = (body: unknown): string[] => {
  const { stream, on_behalf_of } = (body ?? {}) as Partial<ChatBody>
  return [
    'orchestrator:invoke',
    ...(stream === true ? ['orchestrator:stream'] : []),
    ...(on_behalf_of ? ['users:delegate'] : []),
  ]
}

type Uses = { beginTurn: BeginTurn; schemaFault: JsonSchemas['faultOf'] }

/** POST /api/external/v1/chat/completions, streaming or not. */
export const chatRoutes =
  ({ beginTurn, schemaFault }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.post(
      '/chat/completions',
      {
        config: { group: 'chat', scopes: ['orchestrator:invoke'], streams: 'asked' },
        preValidation: (request, _reply, done) => {
          try {
            requireFor(request, scopesIn(request.body))
            done()
          } catch (error) {
            done(error as Error)
          }
        },
        schema: {
          tags: ['chat'],
          summary: 'Chat with the orchestrator, streaming or not',
          body: chatBody,
          response: {
            200: completion,
            ...refusals(
              'chat',
              'missing_required_field',
              'invalid_input',
              'unsupported_parameter',
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
              'invalid_tool',
              'tool_name_taken',
              'invalid_tool_result',
              'too_complex',
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
        const { body } = request
        const { stream, stream_options: options, model = orchestratorModel } = body
        const format = answerFormatOf(body.response_format)
        if (format) await requireUsable(format, request.access.organizationId, schemaFault)
        const asked = {
          ...conversationOf(body),
          clientTools: offeredTools(body),
          sessionId: body.session_id,
          hidden: body.session_hidden,
          onBehalfOf: body.on_behalf_of,
          targetAgentId: body.target_agent_id,
          model,
          settings: modelSettingsOf(body),
          format,
          keep: stream === true,
        }
        const turn = await beginTurn(request, asked, repetitionOf(request))
        request.answersFor = turn.sessionId
        return answerChat(request, reply, { turn, model, stream: stream === true, options })
      },
    )
  }
