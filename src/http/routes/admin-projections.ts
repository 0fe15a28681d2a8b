import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ListUnreadable } from '../../../queries/list-unreadable.ts'
import type { RebuildJobs } from '../../projector/rebuild-jobs.ts'
import { refusals } from '../errors/responses.ts'
import { pathName } from '../wire/fields.ts'
import { unreadableEvent } from '../wire/unreadable-events.ts'

const projection = z.object({
  name: z.string(),
  position: z.int().describe('The last position folded; -1: none'),
  lag: z.int().describe('From there to the end of the log'),
  lag_unit: z.enum(['events', 'bytes']),
  state: z.enum(['running', 'stopped', 'rebuilding', 'elsewhere']),
  progress: z.object({ events: z.int(), percent: z.int() }).optional(),
  error: z.string().optional(),
})

type Uses = RebuildJobs & { unreadable: ListUnreadable }

const mostNamed = 100

/** The read models of this installation, for operators. */
export const adminProjectionRoutes =
  ({ list, begin: beginRebuild, unreadable }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const config = { platform: true } as const
    const tags = ['admin: projections']

    http.get(
      '/projections',
      {
        config,
        schema: {
          tags,
          summary: 'List the read models with their positions',
          response: {
            200: z.object({
              projections: z.array(projection),
              unreadable_events: z
                .array(unreadableEvent)
                .describe('Events that were set aside, the first 100'),
            }),
            ...refusals('admin', 'platform_only'),
          },
        },
      },
      async () => ({
        projections: await list(),
        unreadable_events: (await unreadable(mostNamed)).events,
      }),
    )

    http.post(
      '/projections/:name/rebuild',
      {
        config,
        schema: {
          tags,
          summary:
            'Rebuild a read model beside the live one, then swap them; the list shows progress',
          params: z.object({ name: pathName }),
          response: {
            202: z.object({ name: z.string(), state: z.literal('rebuilding') }),
            ...refusals(
              'admin',
              'platform_only',
              'projection_not_found',
              'projects_elsewhere',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { name } = request.params
        beginRebuild(name)
        return reply.code(202).send({ name, state: 'rebuilding' as const })
      },
    )
  }
