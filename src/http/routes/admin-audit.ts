import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type EventsQuery, eventOrders, type ListEvents } from '../../../queries/list-events.ts'
import { position } from '../../domain/event.ts'
import type { HistoryOwner } from '../checks/history-owner.ts'
import { refusals } from '../errors/responses.ts'
import { type Lines, sendLines, wantsLines } from '../streams/ndjson.ts'
import { integer, logPosition, moment, pageSizeOf } from '../wire/fields.ts'

type Uses = {
  listEvents: {
    page: ListEvents['page']
    lines(query: EventsQuery & { limit?: number | undefined }): Promise<Lines>
  }
  history: HistoryOwner
}

const eventsQuery = z.strictObject({
  from: moment.optional(),
  to: moment.optional(),
  order: z.enum(eventOrders).default('asc').describe('`desc`: the newest first'),
  after: logPosition
    .optional()
    .describe('Continue past this position, in the order; absent: from its beginning'),
  limit: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  stream: z.string().min(1).max(1_000).optional(),
  type: z.string().min(1).max(200).optional(),
  actor: z.string().min(1).max(200).optional(),
  request_id: z.string().min(1).max(200).optional(),
  session_id: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
  agent_id: z.string().min(1).max(200).optional(),
  run_id: z.string().min(1).max(200).optional(),
})

const event = z.object({
  position,
  id: z.string(),
  stream: z.string(),
  revision: z.int(),
  type: z.string(),
  data: z.unknown(),
  metadata: z.looseObject({}).nullable().describe('Null where what is stored is no object'),
})

/** The events of a history (docs/contract/history.md#events). */
export const adminAuditRoutes =
  ({ listEvents, history }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      `${history.at}/events`,
      {
        config: { ...history.rules, lines: true },
        schema: {
          tags: ['admin: audit'],
          summary: history.summary('List events in log order, with sealed texts opened'),
          params: history.params,
          querystring: eventsQuery,
          response: {
            200: z.object({ events: z.array(event), next_after: z.int(), has_more: z.boolean() }),
            ...refusals('admin', 'invalid_filter', ...history.refused),
          },
        },
      },
      async (request, reply) => {
        const organizationId = await history.of(request)
        const { request_id, session_id, agent_id, run_id, ...query } = request.query
        const filters = {
          requestId: request_id,
          sessionId: session_id,
          agentId: agent_id,
          runId: run_id,
        }
        const search = { organizationId, ...query, ...filters }
        if (wantsLines(request)) return sendLines(reply, await listEvents.lines(search))
        return listEvents.page({ ...search, limit: pageSizeOf(search.limit) })
      },
    )
  }
