import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { orchestratorModel } from '../../../queries/list-models.ts'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { RequireSubscription } from '../../turns/begin/require-subscription.ts'
import type { StorageQuotas } from '../../turns/begin/storage-quotas.ts'
import type { AgentChoice, TurnOptions } from '../../turns/begin/turn-input.ts'
import type { ForkSessions } from '../../turns/fork/fork-sessions.ts'
import type { FindFirstOptions, FirstOptions } from '../../turns/read/find-first-options.ts'
import { conversationValues } from '../checks/json-text.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { requireTurnScopes } from '../checks/turn-scopes.ts'
import { refusals } from '../errors/responses.ts'
import { turnRefusals } from '../errors/turn-refusals.ts'
import { answerChat, completion } from '../streams/answer-chat.ts'
import { requireUsable, schemaFieldOf } from '../wire/answer-format.ts'
import { chatBody } from '../wire/chat.ts'
import { orAbsent, pathId, pathSessionId, sessionId } from '../wire/fields.ts'
import { bodyOnBehalfOf } from '../wire/on-behalf-of.ts'
import { turnOptions } from '../wire/turn-input.ts'

type Uses = {
  /** Resolves when the read models show the fork. */
  forkSession: ForkSessions['fork']
  beginTurn: BeginTurn
  findFirstOptions: FindFirstOptions
  schemaFault: JsonSchemas['faultOf']
  requireSubscription: RequireSubscription
  quotas: Pick<StorageQuotas, 'require'>
}

const params = z.object({ session_id: pathSessionId })
const eventId = z.string().min(1).max(128)
const scopes = ['orchestrator:invoke', 'sessions:messages']

const forkBody = z
  .object({
    after: orAbsent(eventId),
    session_id: orAbsent(sessionId),
    ...bodyOnBehalfOf.shape,
  })
  .nullish()

/** As a chat's body: the messages are the session's own. `session_id` is the fork's. */
const regenerateFields = chatBody.omit({ messages: true, session_hidden: true })
const regenerateBody = regenerateFields.nullish()
const noFields = regenerateFields.parse({})

type Options = Omit<TurnOptions, 'system'>

/** The options of a repeated turn: those of the body, else those that the turn had first. */
const mergedOptions = (options: Options, first: FirstOptions): TurnOptions => {
  // It offers tools, or says that there are none.
  const { clientTools, keywordTools } = options.keywordTools ? options : first
  return {
    ...options,
    system: first.system ?? [],
    clientTools,
    keywordTools,
    settings: first.settings ? { ...first.settings, ...options.settings } : options.settings,
    format: options.format ?? first.format,
  }
}

/** The agent that the turn went to at first. */
const firstAgent = ({ agentId, targetAgentId }: FirstOptions): AgentChoice =>
  agentId === undefined
    ? { kind: 'orchestrator', targetAgentId }
    : { kind: 'agent', agentId, anyType: true, targetAgentId }

/** Forks of sessions, and turns asked again in one (docs/contract/forks.md#forks). */
export const sessionForkRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { forkSession, beginTurn, findFirstOptions, schemaFault } = uses
    const { requireSubscription } = uses
    const tags = ['sessions']

    http.post(
      '/sessions/:session_id/fork',
      {
        config: { scopes, delegates: 'body' },
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
              'session_not_found',
              'message_not_found',
              'session_exists',
              'user_not_found',
              'delegation_not_allowed',
              'no_subscription',
              'invalid_plan',
              'insufficient_credits',
              'storage_quota_exceeded',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { after, session_id } = request.body ?? {}
        const { call, viewer } = request.delegated
        await requireSubscription(request.access)
        await uses.quotas.require(request.access)
        const forked = await forkSession(
          {
            viewer,
            sessionId: request.params.session_id,
            at: { after: after ?? null },
            forkSessionId: session_id,
          },
          call,
        )
        request.answersFor = forked.sessionId
        reply.code(201)
        return { session_id: forked.sessionId, forked_from: forked.forkedFrom, after: forked.after }
      },
    )

    http.post(
      '/sessions/:session_id/messages/:event_id/regenerate',
      {
        config: { group: 'chat', scopes, streams: 'asked', mostValues: conversationValues },
        preValidation: requireTurnScopes,
        schema: {
          tags,
          summary: 'Ask the turn of a message again, in a fork that ends before it',
          params: params.extend({ event_id: pathId }),
          body: regenerateBody,
          response: {
            200: completion,
            ...refusals('chat', ...turnRefusals, 'message_not_found', 'session_exists'),
          },
        },
      },
      async (request, reply) => {
        const body = request.body ?? noFields
        const { stream, stream_options: streamOptions, model = orchestratorModel } = body
        const { organizationId } = request.access
        const { session_id: sessionId, event_id } = request.params
        const isStream = stream === true
        const options = turnOptions(body, isStream ? 'streamed' : 'whole')
        const schemaField = schemaFieldOf(body.response_format)
        if (options.format)
          await requireUsable(options.format, organizationId, schemaFault, schemaField)
        const first = await findFirstOptions(organizationId, event_id)
        const named = body.target_agent_id !== undefined || body.model !== undefined
        const cancels = streamOptions?.on_disconnect === 'cancel'
        const answering = { early: isStream, cancels }
        const turn = await beginTurn(
          request,
          {
            ...mergedOptions(options, first),
            kind: 'regenerate',
            agent: named ? options.agent : firstAgent(first),
            sessionId,
            messageId: event_id,
            forkSessionId: body.session_id,
          },
          repetitionOf(request, reply, answering),
        )
        request.answersFor = turn.sessionId
        request.forgetBody()
        return answerChat(request, reply, { turn, model, stream: isStream, options: streamOptions })
      },
    )
  }
