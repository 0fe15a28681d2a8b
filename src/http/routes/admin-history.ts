import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { usageFigures, usageView } from '../../../projections/usage.ts'
import type { GetChanges } from '../../../queries/get-changes.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { Moment } from '../../../queries/get-state.ts'
import { type GetUsage, usageParts } from '../../../queries/get-usage.ts'
import { START } from '../../ports/event-store.ts'
import type { HistoryOwner } from '../checks/history-owner.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { type Lines, sendLines, wantsLines } from '../streams/ndjson.ts'
import { integer, logPosition, moment, pageSizeOf, pathId } from '../wire/fields.ts'
import { unreadableEvent } from '../wire/unreadable-events.ts'

type StateQuery = {
  organizationId: string
  view: string
  moment: Moment
  after: string | undefined
  limit: number
}

type State = Omit<z.infer<typeof state>, 'view'>

type StateUses = {
  getState: {
    page(query: StateQuery): Promise<State>
    lines(query: StateQuery): Promise<{ position: number; lines: Lines }>
  }
  getChanges: GetChanges
  history: HistoryOwner
}
type UsageUses = { getUsage: GetUsage; getOrganization: GetOrganization }

const position = logPosition.transform((position): Moment => ({ position }))
const time = moment.transform((time): Moment => ({ time }))

const when = z.union([position, time], 'A position or an ISO 8601 time is expected')

const paged = z.object({
  view: z.string().min(1).max(100),
  after: z.string().max(2_000).optional().describe('Continue after the document with this id'),
  limit: integer(1).optional(),
})
const stateQuery = paged.extend({ as_of: when.optional() })
const changesQuery = paged.extend({
  from: when.optional().describe('Default: before the first event'),
  to: when.optional().describe('Default: now'),
})

const unreadable_events = z.array(unreadableEvent).optional()

const state = z.object({
  view: z.string(),
  position: z.int(),
  total: z.int(),
  documents: z.array(z.object({ id: z.string(), document: z.looseObject({}) })),
  next_after: z.string().nullable(),
  unreadable_events,
})

const seen = z.looseObject({}).nullable()

const changes = z.object({
  view: z.string(),
  from: z.int(),
  to: z.int(),
  total: z.int(),
  changes: z.array(
    z.object({
      id: z.string(),
      change: z.enum(['new', 'changed', 'gone']),
      before: seen,
      after: seen,
    }),
  ),
  next_after: z.string().nullable(),
  unreadable_events,
})

const figures = usageView
  .pick({
    runs: true,
    completed: true,
    failed: true,
    cancelled: true,
    timed_out: true,
    prompt_tokens: true,
    completion_tokens: true,
  })
  .extend(usageFigures.shape)
  .extend({ last_day: usageView.shape.day.nullable().describe('Of the last run (UTC)') })

const parts = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(usageParts)).max(usageParts.length))

const day = z.iso.date()

const usage = z.object({
  total: figures,
  usage: z.array(
    usageView
      .pick({ day: true, agent_id: true, user_id: true, key_id: true, model: true })
      .partial()
      .extend(figures.shape),
  ),
})

const rules = { scopes: ['admin:read'], managers: true } as const
const params = z.object({ organization_id: pathId })

/** Past states that a history comes to (docs/contract/history.md#states). */
export const adminStateRoutes =
  ({ getState, getChanges, history }: StateUses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      `${history.at}/state`,
      {
        config: { ...history.rules, lines: true },
        schema: {
          tags: ['admin: audit'],
          summary: history.summary('Get a read model as it was at a time or position'),
          params: history.params,
          querystring: stateQuery,
          response: {
            200: state,
            ...refusals('admin', ...history.refused, 'read_model_not_found', 'state_too_large'),
          },
        },
      },
      async (request, reply) => {
        const { view, as_of = {}, after, limit } = request.query
        const organizationId = await history.of(request)
        const query = { organizationId, view, moment: as_of, after }
        if (wantsLines(request)) {
          const { position, lines } = await getState.lines({ ...query, limit: limit ?? Infinity })
          reply.header('x-position', position)
          return sendLines(reply, lines)
        }
        return { view, ...(await getState.page({ ...query, limit: pageSizeOf(limit) })) }
      },
    )

    http.get(
      `${history.at}/changes`,
      {
        config: history.rules,
        schema: {
          tags: ['admin: audit'],
          summary: history.summary('Get the difference of two states of a read model'),
          params: history.params,
          querystring: changesQuery,
          response: {
            200: changes,
            ...refusals('admin', ...history.refused, 'read_model_not_found', 'state_too_large'),
          },
        },
      },
      async (request) => {
        const { from = { position: START }, to = {}, limit, ...query } = request.query
        const organizationId = await history.of(request)
        const changes = await getChanges({
          ...query,
          organizationId,
          from,
          to,
          limit: pageSizeOf(limit),
        })
        return { view: query.view, ...changes }
      },
    )
  }

/** What an organization has used (docs/contract/admin-api.md#audit). */
export const adminUsageRoutes =
  ({ getUsage, getOrganization }: UsageUses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/organizations/:organization_id/usage',
      {
        config: rules,
        schema: {
          tags: ['admin: audit'],
          summary: 'Sum up runs, tokens, credits and durations by day, agent, user, key and model',
          params,
          querystring: z.object({
            from: day.optional(),
            to: day.optional(),
            by: parts.prefault('day').describe(usageParts.join(', ')),
          }),
          response: {
            200: usage,
            ...refusals('admin', 'role_required', 'organization_not_found', 'invalid_filter'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        return getUsage({ organizationId, ...request.query })
      },
    )
  }
