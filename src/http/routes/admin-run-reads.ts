import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { runStep } from '../../../projections/run-steps.ts'
import { type RunSort, runSorts, runSummary } from '../../../projections/run-summaries.ts'
import { runStatuses } from '../../../projections/runs.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { GetRun } from '../../../queries/get-run.ts'
import type { ListRuns } from '../../../queries/list-runs.ts'
import { refusal } from '../../domain/refusal.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { integer, moment, pageSizeOf, pathId } from '../wire/fields.ts'

type Uses = { listRuns: ListRuns; getRun: GetRun; getOrganization: GetOrganization }

const filter = z.string().min(1).max(200).optional()

const runsQuery = z.strictObject({
  status: z.enum(runStatuses).optional(),
  agent_id: filter.describe('The agent that answered; until then, that the turn was given to'),
  model: filter.describe('One of those that answered in the run: `provider/model`'),
  user_id: filter,
  session_id: filter,
  from: moment.optional().describe('Started at this time or later'),
  to: moment.optional().describe('Started before this time'),
  sort: z
    .enum(runSorts)
    .default('started_at')
    .describe('The newest, longest, costliest or largest first'),
  cursor: z.string().max(200).optional().describe('`next_cursor` of the page before'),
  limit: integer(1).optional().describe('At most 500; default 100'),
})

const runQuery = z.strictObject({
  after: integer(0).optional().describe('`next_after` of the page before'),
  limit: integer(1).optional().describe('At most 500; default 100'),
})

const runList = z.object({
  runs: z.array(runSummary),
  next_cursor: z.string().nullable().describe('Null: there are no more runs'),
})

const runDetail = runSummary.extend({
  steps: z.array(runStep),
  next_after: z.int().nullable().describe('Null: there are no more steps'),
})

const config = { scopes: ['admin:read'], managers: true } as const
const tags = ['admin: runs']
const organization_id = pathId

const cursorOf = (sort: RunSort, place: string): string =>
  Buffer.from(`${sort} ${place}`).toString('base64url')

/** The place in the list that a cursor has. @throws invalid_query */
const placeIn = (cursor: string, sort: RunSort): string => {
  const [, order, place] =
    /^(\w+) ([\w:.-]+\/[\w-]+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (order === sort && place !== undefined) return place
  throw refusal('invalid_query', { fields: { cursor: [`Not a cursor of runs by ${sort}`] } })
}

/** An organization's runs and their steps (docs/contract/admin-api.md#runs). */
export const adminRunReadRoutes =
  ({ listRuns, getRun, getOrganization }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/organizations/:organization_id/runs',
      {
        config,
        schema: {
          tags,
          summary: 'List runs by start, duration, charge or tokens',
          params: z.object({ organization_id }),
          querystring: runsQuery,
          response: {
            200: runList,
            ...refusals('admin', 'role_required', 'organization_not_found', 'invalid_filter'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        const { status, model, from, to, sort, cursor, limit, ...ids } = request.query
        const after = cursor === undefined ? undefined : placeIn(cursor, sort)
        await getOrganization(organizationId)
        const { runs, next } = await listRuns({
          organizationId,
          status,
          agentId: ids.agent_id,
          model,
          userId: ids.user_id,
          sessionId: ids.session_id,
          from,
          to,
          sort,
          after,
          limit: pageSizeOf(limit),
        })
        return { runs, next_cursor: next === null ? null : cursorOf(sort, next) }
      },
    )

    http.get(
      '/organizations/:organization_id/runs/:run_id',
      {
        config,
        schema: {
          tags,
          summary: 'Get one run with its steps',
          params: z.object({ organization_id, run_id: pathId }),
          querystring: runQuery,
          response: {
            200: runDetail,
            ...refusals('admin', 'role_required', 'organization_not_found', 'run_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        const { after = -1, limit } = request.query
        await getOrganization(organizationId)
        const { run_id: runId } = request.params
        return getRun({ organizationId, runId, after, limit: pageSizeOf(limit) })
      },
    )
  }
