import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { findReadModel } from '../../../queries/find-read-model.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { Position } from '../../domain/event.ts'
import { refusal } from '../../domain/refusal.ts'
import type { FeedRequest, Feeds } from '../../feeds/feeds.ts'
import { type BatchResult, lineBytes, sseBytes } from '../../feeds/item.ts'
import { columnsOf, valuesOf } from '../../feeds/rows.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { type CsvOptions, csvRow } from '../streams/csv.ts'
import { sendLines, sendRows, wantsLines, wantsRows } from '../streams/ndjson.ts'
import { endingOf, type Frames, sendStream } from '../streams/sse.ts'
import { boolean, logPosition, pathId, pathName } from '../wire/fields.ts'

type Uses = { feeds: Feeds; getOrganization: GetOrganization }

const lagUnit = z.enum(['events', 'bytes'])
/** Open streams of one organization (docs/contract/limits.md#sizes). */
const mostStreams = 1_000
const scopes = ['admin:read']
const rules = { scopes, managers: true } as const
const followed = z.object({ organization_id: pathId, read_model: pathName })

const feedQuery = z.object({
  snapshot: boolean.default(true).describe('false: only changes from now on'),
  formulas: z
    .enum(['escape'])
    .optional()
    .describe('In CSV: an apostrophe in front of text that a spreadsheet takes for a formula'),
  after: logPosition.optional().describe('Continue after this position, like Last-Event-ID'),
})

const feed = z.object({
  read_model: z.string(),
  schema: z.looseObject({}).describe('JSON Schema of its documents'),
  position: z.int(),
  lag: z.int().describe('From there to the end of the log'),
  lag_unit: lagUnit,
})

const schemas = new WeakMap<z.ZodType, Record<string, unknown>>()
const jsonSchemaOf = (schema: z.ZodType): Record<string, unknown> => {
  const known = schemas.get(schema) ?? { ...z.toJSONSchema(schema) }
  schemas.set(schema, known)
  return known
}

/**
 * The position to continue after. `Last-Event-ID` wins: reconnecting clients send it by themselves.
 */
const afterOf = (
  { headers }: FastifyRequest,
  after: Position | undefined,
): Position | undefined => {
  const header = headers['last-event-id']
  if (header === undefined || header === '') return after
  const { success, data } = logPosition.safeParse(header)
  if (!success) throw refusal('invalid_query', { fields: { 'Last-Event-ID': ['not a position'] } })
  return data
}

const framed = (result: BatchResult) => (result.done ? result : { value: sseBytes(result.value) })

/** Read models as they change (docs/contract/feeds.md#a-stream). */
export const adminFeedRoutes =
  ({ feeds, getOrganization }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const open = new Map<string, number>()

    /** Counts a stream of an organization until it ends. @throws rate_limit_exceeded */
    const entered = (organizationId: string): (() => void) => {
      const count = open.get(organizationId) ?? 0
      if (count >= mostStreams)
        throw refusal('rate_limit_exceeded', {
          message: `An organization has at most ${mostStreams} open feeds`,
          limit: mostStreams,
          window: 'concurrent',
          resetAt: Math.ceil(Date.now() / 1000) + 1,
          retryAfter: 1,
        })
      open.set(organizationId, count + 1)
      return () => {
        const left = (open.get(organizationId) ?? 1) - 1
        if (left > 0) open.set(organizationId, left)
        else open.delete(organizationId)
      }
    }

    /** Frames until the client disconnects, is too slow, or loses its right. */
    const frames = (reply: FastifyReply, feedRequest: FeedRequest): Frames => {
      const batches = feeds.follow(feedRequest, endingOf(reply), () => reply.raw.destroy())
      return {
        next: () => batches.next().then(framed),
        pushes: (write) => batches.pushes((batch) => write(sseBytes(batch))),
        return: batches.return,
      }
    }

    async function* lines(feedRequest: FeedRequest, cut: () => void) {
      for await (const { items } of feeds.upToNow(feedRequest, cut))
        if (items.length > 0) yield lineBytes(items)
    }

    /** The same as a table, with a column for each field that the read model's schema has. */
    async function* rows(feedRequest: FeedRequest, cut: () => void, options: CsvOptions) {
      const fields = Object.keys(jsonSchemaOf(feedRequest.model.shown.schema).properties ?? {})
      yield csvRow(columnsOf(fields))
      for await (const { items } of feeds.upToNow(feedRequest, cut))
        if (items.length > 0)
          yield items.map((item) => csvRow(valuesOf(item, fields), options)).join('')
    }

    http.get(
      '/organizations/:organization_id/feeds',
      {
        config: rules,
        schema: {
          tags: ['admin: feeds'],
          summary: 'List the read models that can be followed',
          params: z.object({ organization_id: pathId }),
          response: {
            200: z.object({ feeds: z.array(feed) }),
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        const list = await feeds.list()
        return { feeds: list.map((feed) => ({ ...feed, schema: jsonSchemaOf(feed.schema) })) }
      },
    )

    http.get(
      '/organizations/:organization_id/feeds/:read_model/schema',
      {
        config: rules,
        schema: {
          tags: ['admin: feeds'],
          summary: 'Get the JSON Schema of the documents of a read model',
          params: followed,
          response: {
            200: z.looseObject({}),
            ...refusals('admin', 'role_required', 'organization_not_found', 'read_model_not_found'),
          },
        },
      },
      async (request) => {
        const { organization_id, read_model } = request.params
        await getOrganization(inOrganization(request, organization_id).organizationId)
        return jsonSchemaOf(findReadModel(read_model).shown.schema)
      },
    )

    http.get(
      '/organizations/:organization_id/feeds/:read_model',
      {
        // A HEAD request would follow the feed without reading it.
        exposeHeadRoute: false,
        config: { ...rules, streams: 'always', lines: true, rows: true, lasting: true },
        schema: {
          tags: ['admin: feeds'],
          summary: 'Follow a read model: a snapshot, then every change',
          params: followed,
          querystring: feedQuery,
          response: {
            200: z.string(),
            ...refusals(
              'admin',
              'role_required',
              'organization_not_found',
              'read_model_not_found',
              'invalid_filter',
            ),
          },
        },
      },
      async (request, reply) => {
        const { organization_id, read_model } = request.params
        const { organizationId } = inOrganization(request, organization_id)
        await getOrganization(organizationId)
        const model = findReadModel(read_model)
        const after = afterOf(request, request.query.after)
        if (after !== undefined && after > (await feeds.end()))
          throw refusal('invalid_query', { fields: { after: ['The log is not that long'] } })
        const feedRequest = { organizationId, model, after, snapshot: request.query.snapshot }
        reply.raw.once('close', entered(organizationId))
        const cut = () => reply.raw.destroy()
        if (wantsLines(request)) return sendLines(reply, lines(feedRequest, cut))
        const options = { escapeFormulas: request.query.formulas === 'escape' }
        if (wantsRows(request)) return sendRows(reply, rows(feedRequest, cut, options))
        await feeds.admit()
        return sendStream(reply, frames(reply, feedRequest))
      },
    )
  }
