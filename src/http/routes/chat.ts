import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { orchestratorModel } from '../../../queries/list-models.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import { conversationValues } from '../checks/json-text.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { requireTurnScopes } from '../checks/turn-scopes.ts'
import { refusals } from '../errors/responses.ts'
import { turnRefusals } from '../errors/turn-refusals.ts'
import { answerChat, completion } from '../streams/answer-chat.ts'
import { requireUsable, schemaFieldOf } from '../wire/answer-format.ts'
import { chatBody } from '../wire/chat.ts'
import { turnJson } from '../wire/json-line.ts'
import { turnInput } from '../wire/turn-input.ts'

type Uses = { beginTurn: BeginTurn; schemaFault: JsonSchemas['faultOf'] }

/** POST /api/external/v1/chat/completions, streaming or not. */
export const chatRoutes =
  ({ beginTurn, schemaFault }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.setReplySerializer(turnJson)
    http.post(
      '/chat/completions',
      {
        config: {
          group: 'chat',
          scopes: ['orchestrator:invoke'],
          streams: 'asked',
          mostValues: conversationValues,
        },
        preValidation: requireTurnScopes,
        schema: {
          tags: ['chat'],
          summary: 'Chat with the orchestrator, streaming or not',
          body: chatBody,
          response: {
            200: completion,
            ...refusals('chat', ...turnRefusals),
          },
        },
      },
      async (request, reply) => {
        const { body } = request
        const { stream, stream_options: options, model = orchestratorModel } = body
        const isStream = stream === true
        const input = turnInput(body, isStream ? 'streamed' : 'whole')
        const schemaField = schemaFieldOf(body.response_format)
        const { organizationId } = request.access
        if (input.format)
          await requireUsable(input.format, organizationId, schemaFault, schemaField)
        const cancels = options?.on_disconnect === 'cancel'
        const repetition = repetitionOf(request, reply, { early: isStream, cancels })
        const turn = await beginTurn(request, input, repetition)
        request.answersFor = turn.sessionId
        request.forgetBody()
        return answerChat(request, reply, { turn, model, stream: isStream, options })
      },
    )
  }
