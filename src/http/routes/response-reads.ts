import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ListInputItems } from '../../../queries/list-input-items.ts'
import { refusal } from '../../domain/refusal.ts'
import type { ReadMeter } from '../../metering/read-meter.ts'
import type { EraseTurn } from '../../turns/erase/erase-turn.ts'
import type { FindTurn, ViewerTurn } from '../../turns/read/find-turn.ts'
import type { CancelTurn } from '../../turns/run/cancel-turn.ts'
import { refusals } from '../errors/responses.ts'
import { routeOf } from '../server/route-rules.ts'
import { mayHaveSeen, responseFrames } from '../streams/response-frames.ts'
import { endingOf, sendStream } from '../streams/sse.ts'
import { boolean, integer, pathId } from '../wire/fields.ts'
import type { FileLinks } from '../wire/file-links.ts'
import { inputItem, inputItemOf } from '../wire/input-items.ts'
import { bodyOnBehalfOf, queryOnBehalfOf } from '../wire/on-behalf-of.ts'
import { echoFrom } from '../wire/response-echo.ts'
import { progressOf, responseObject, responseOf } from '../wire/response-object.ts'
import { runOfResponse } from '../wire/responses.ts'

type Uses = {
  findTurn: FindTurn
  cancelTurn: CancelTurn
  eraseTurn: EraseTurn
  listInputItems: ListInputItems
  messagesRead: ReadMeter['messagesRead']
  linksOf: FileLinks
}

const params = z.object({ response_id: pathId })

const read = z.object({
  ...queryOnBehalfOf.shape,
  stream: boolean.default(false),
  starting_after: integer(0).optional().describe('The number of the last event that is not sent'),
})

const listing = z.object({
  ...queryOnBehalfOf.shape,
  limit: integer(1, 100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().max(256).optional(),
})

const itemList = z.object({
  object: z.literal('list'),
  data: z.array(inputItem),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

const deleted = z.object({
  id: z.string(),
  object: z.literal('response.deleted'),
  deleted: z.literal(true),
})

const refused = ['response_not_found', 'user_not_found', 'delegation_not_allowed'] as const

/** A response as it is now; one of another process is queued or in progress. */
const currentResponse = async (run: ViewerTurn) => {
  const { turn, isQueued } = run
  const status = isQueued ? ('queued' as const) : ('in_progress' as const)
  const progress = turn ? await progressOf(turn) : { status }
  return responseOf(run, progress, echoFrom(await run.echo()))
}

/**
 * Reading, following, cancelling and deleting responses
 * (docs/contract/responses.md#reading-a-response).
 */
export const responseReadRoutes =
  ({
    findTurn,
    cancelTurn,
    eraseTurn,
    listInputItems,
    messagesRead,
    linksOf,
  }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const tags = ['responses']
    const group = 'chat'

    http.get(
      '/responses/:response_id',
      {
        config: { group, scopes: ['sessions:messages'], streams: 'asked', delegates: 'query' },
        schema: {
          tags,
          summary: 'A response, while it runs and after its end, or its events',
          params,
          querystring: read,
          response: {
            200: responseObject,
            ...refusals('chat', ...refused, 'stream_not_found'),
          },
        },
      },
      async (request, reply) => {
        const { stream, starting_after: after } = request.query
        const { call, viewer } = request.delegated
        const { organizationId } = request.access
        const runId = runOfResponse(request.params.response_id)
        const run = await findTurn.find({ organizationId, viewer, runId })
        messagesRead(call, { route: routeOf(request), runId })
        if (!stream) return currentResponse(run)
        const { turn, isPast } = run
        if (!turn) throw refusal('stream_not_found')
        if (after !== undefined && !(await mayHaveSeen(turn, { after, isPast })))
          throw refusal('invalid_query', {
            fields: { starting_after: ['There is no such event yet'] },
          })
        const echo = echoFrom(await run.echo())
        const ids = echo.background || after !== undefined
        const frames = responseFrames(turn, { echo, after, ids, isPast }, endingOf(reply))
        return sendStream(reply, frames)
      },
    )

    http.post(
      '/responses/:response_id/cancel',
      {
        config: { group, scopes: ['orchestrator:invoke'], delegates: 'body' },
        schema: {
          tags,
          summary: 'Cancel a response that runs, or waits',
          params,
          body: bodyOnBehalfOf.nullish(),
          response: {
            200: responseObject,
            ...refusals('chat', ...refused, 'idempotency_key_reused'),
          },
        },
      },
      async (request) => {
        const runId = runOfResponse(request.params.response_id)
        const cancelled = await cancelTurn({ ...request.delegated, runId })
        request.answersFor = cancelled.sessionId
        return currentResponse(cancelled)
      },
    )

    http.delete(
      '/responses/:response_id',
      {
        config: { group, scopes: ['sessions:delete'], delegates: 'query' },
        schema: {
          tags,
          summary: 'Delete a response: its session is erased',
          params,
          querystring: queryOnBehalfOf.extend({ conversation: boolean.default(false) }),
          response: { 200: deleted, ...refusals('chat', ...refused, 'response_continued') },
        },
      },
      async (request) => {
        const { conversation } = request.query
        const { response_id } = request.params
        const runId = runOfResponse(response_id)
        await eraseTurn({ ...request.delegated, runId, wholeSession: conversation })
        return { id: response_id, object: 'response.deleted' as const, deleted: true as const }
      },
    )

    http.get(
      '/responses/:response_id/input_items',
      {
        config: { group, scopes: ['sessions:messages'], delegates: 'query' },
        schema: {
          tags,
          summary: 'What a response was asked',
          params,
          querystring: listing,
          response: { 200: itemList, ...refusals('chat', ...refused, 'invalid_filter') },
        },
      },
      async (request) => {
        const { limit, order, after } = request.query
        const { call, viewer } = request.delegated
        const { organizationId } = request.access
        const runId = runOfResponse(request.params.response_id)
        const { runId: run } = await findTurn.find({ organizationId, viewer, runId })
        const all = (await listInputItems(run, linksOf(request))).map(inputItemOf)
        messagesRead(call, { route: routeOf(request), runId })
        if (order === 'desc') all.reverse()
        const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
        if (after !== undefined && from === 0)
          throw refusal('invalid_query', { fields: { after: ['There is no such item'] } })
        const data = all.slice(from, from + limit)
        return {
          object: 'list' as const,
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: from + limit < all.length,
        }
      },
    )
  }
