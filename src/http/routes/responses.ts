import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { JsonSchemas } from '../../ports/json-schemas.ts'
import type { Delegate } from '../../security/delegate.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { RequireSubscription } from '../../turns/begin/require-subscription.ts'
import type { SessionChoice } from '../../turns/begin/turn-input.ts'
import type { FindTurn } from '../../turns/read/find-turn.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { conversationValues } from '../checks/json-text.ts'
import { repetitionOf } from '../checks/repetition.ts'
import { requireTurnScopes } from '../checks/turn-scopes.ts'
import { refusals } from '../errors/responses.ts'
import { turnRefusals } from '../errors/turn-refusals.ts'
import { streamTurn, waitForStart } from '../streams/answer-turn.ts'
import { responseFrames } from '../streams/response-frames.ts'
import { requireUsable } from '../wire/answer-format.ts'
import { withReferences } from '../wire/item-references.ts'
import { turnJson } from '../wire/json-line.ts'
import { echoOf } from '../wire/response-echo.ts'
import type { ResolvedItem } from '../wire/response-input.ts'
import { progressAt, progressOf, responseObject, responseOf } from '../wire/response-object.ts'
import {
  inResponseNames,
  type ResponsesBody,
  responsesBody,
  runOfResponse,
  turnSentOf,
} from '../wire/responses.ts'
import { turnInput } from '../wire/turn-input.ts'

type Uses = {
  beginTurn: BeginTurn
  findTurn: FindTurn
  delegate: Delegate
  requireSubscription: RequireSubscription
  schemaFault: JsonSchemas['faultOf']
}

/** The turn that a response follows; an id of impossible form names none. */
const previousOf = ({ previous_response_id: id }: ResponsesBody): SessionChoice | undefined =>
  id === undefined ? undefined : { kind: 'after_run', runId: runOfResponse(id) ?? '' }

/** POST /api/external/v1/responses: whole, streamed, or in the background. */
export const responseRoutes = (uses: Uses): FastifyPluginAsyncZod => {
  const { beginTurn, findTurn, delegate, requireSubscription, schemaFault } = uses
  const resolved = withReferences(findTurn)

  return async (http) => {
    http.setReplySerializer(turnJson)
    http.post(
      '/responses',
      {
        config: {
          group: 'chat',
          scopes: ['orchestrator:invoke'],
          streams: 'asked',
          mostValues: conversationValues,
        },
        preValidation: requireTurnScopes,
        schema: {
          tags: ['responses'],
          summary: 'Begin a response: whole, streamed, or in the background',
          body: responsesBody,
          response: {
            200: responseObject,
            ...refusals('chat', ...turnRefusals, 'response_not_found', 'response_continued'),
          },
        },
      },
      async (request, reply) => {
        const { body, access } = request
        const { organizationId } = access
        const { background } = body
        const { echo, stored } = echoOf(body)

        /**
         * Items that references stand for are looked up once all else that is refused first was.
         */
        const resolveItems = async (): Promise<readonly ResolvedItem[]> => {
          const items = body.input.filter((item) => item.type !== 'item_reference')
          if (items.length === body.input.length) return items
          const { viewer } = await delegate(request, body.on_behalf_of)
          await requireSubscription(access)
          return resolved(body.input, { organizationId, viewer })
        }

        const beginResponse = async () => {
          const delivery = background ? 'background' : body.stream ? 'streamed' : 'whole'
          const input = turnInput(
            turnSentOf(body, await resolveItems()),
            delivery,
            previousOf(body),
          )
          if (input.format) await requireUsable(input.format, organizationId, schemaFault)
          const early = delivery !== 'whole'
          const repetition = repetitionOf(request, reply, { early })
          return beginTurn(request, { ...input, echo: stored }, repetition)
        }

        const answerRequest = async () => {
          const turn = await beginResponse()
          request.answersFor = turn.sessionId
          // Files in it are on disk by now.
          body.input.length = 0
          request.forgetBody()
          if (body.stream) {
            const framesOf = (live: LiveTurn, ending: AbortSignal) =>
              responseFrames(live, { echo, ids: background === true }, ending)
            return streamTurn(request, reply, { turn, framesOf, cancels: false })
          }
          if (background) {
            const startedTurn = await waitForStart(turn)
            return responseOf(startedTurn, await progressOf(startedTurn), echo)
          }
          const started = await turn.started
          const outcome = await started.outcome
          if (outcome.status === 'failed') throw outcome.refusal
          // Not an answer: the same request may be made again.
          request.isTransient = outcome.status === 'cancelled'
          return responseOf(started, progressAt(outcome), echo)
        }

        return answerRequest().catch((error: unknown) => {
          throw inResponseNames(error)
        })
      },
    )
  }
}
