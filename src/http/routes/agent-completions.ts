import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindAgents } from '../../caches/find-agents.ts'
import { refusal } from '../../domain/refusal.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { TurnInput } from '../../turns/begin/turn-input.ts'
import { requireFor } from '../checks/authenticate.ts'
import { conversationValues } from '../checks/json-text.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { refusals } from '../errors/responses.ts'
import { agentTurnRefusals } from '../errors/turn-refusals.ts'
import { agentCompletion, answerAgentTurn } from '../streams/answer-agent-turn.ts'
import { userContent } from '../wire/content-parts.ts'
import { orAbsent, pathId, sessionId } from '../wire/fields.ts'
import { turnJson } from '../wire/json-line.ts'
import { modelSettingFields, modelSettingsOf } from '../wire/model-settings.ts'
import { bodyOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  beginTurn: BeginTurn
  findAgents: FindAgents
  /** The model of agents that name none. */
  defaultModel: string
}

const params = z.object({ agent_id: pathId })

const body = z.object({
  message: userContent,
  session_id: orAbsent(sessionId),
  stream: z.boolean().nullish(),
  temperature: modelSettingFields.temperature,
  max_tokens: modelSettingFields.max_tokens,
  ...bodyOnBehalfOf.shape,
  session_hidden: orAbsent(z.boolean()),
})

const delegates = (sent: unknown): string[] =>
  (sent as Partial<z.infer<typeof body>> | null)?.on_behalf_of ? ['users:delegate'] : []

/** POST /api/external/agents/{agent_id}/completions, streaming or not. */
export const agentCompletionRoutes =
  ({ beginTurn, findAgents, defaultModel }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.setReplySerializer(turnJson)
    http.post(
      '/agents/:agent_id/completions',
      {
        config: {
          group: 'agents',
          scopes: ['agents:invoke'],
          streams: 'asked',
          mostValues: conversationValues,
        },
        preValidation: async (request) => requireFor(request, delegates(request.body)),
        schema: {
          tags: ['agents'],
          summary: 'Invoke one LLM agent, streaming or not',
          params,
          body,
          response: {
            200: agentCompletion,
            ...refusals('agents', ...agentTurnRefusals, 'invalid_agent_type'),
          },
        },
      },
      async (request, reply) => {
        const { message, stream, on_behalf_of, ...sent } = request.body
        const agentId = request.params.agent_id
        const input: TurnInput = {
          kind: 'message',
          ...message,
          system: [],
          history: [],
          session: { kind: 'id', sessionId: sent.session_id },
          agent: { kind: 'agent', agentId, anyType: false },
          delivery: stream === true ? 'streamed' : 'whole',
          hidden: sent.session_hidden,
          onBehalfOf: on_behalf_of,
          settings: modelSettingsOf(sent),
        }
        const repetition = repetitionOf(request, reply, { early: stream === true })
        const turn = await beginTurn(request, input, repetition)
        request.answersFor = turn.sessionId
        request.forgetBody()
        const { agents } = await findAgents(request.access.organizationId, { agentId })
        const agent = agents.get(agentId)
        if (!agent) throw refusal('agent_not_found')
        const named = { agentId, agentName: agent.name, model: agent.model ?? defaultModel }
        return answerAgentTurn(request, reply, { turn, named, isStream: stream === true })
      },
    )
  }
