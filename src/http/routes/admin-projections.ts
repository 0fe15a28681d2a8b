import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { RebuildJobs } from '../../projector/rebuild-jobs.ts'
import { refusals } from '../errors/responses.ts'
import { pathName } from '../wire/fields.ts'

const projection = z.object({
  name: z.string(),
  position: z.int().describe('The last position folded; -1: none'),
  lag: z.int().describe('From there to the end of the log'),
  lag_unit: z.enum(['events', 'bytes']),
  state: z.enum(['running', 'stopped', 'rebuilding', 'elsewhere']),
  progress: z.object({ events: z.int(), percent: z.int() }).optional(),
  error: z.string().optional(),
})

/** The read models of this installation, for operators. */
export const adminProjectionRoutes =
  ({ list, begin }: RebuildJobs): FastifyPluginAsyncZod =>
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
            200: z.object({ projections: z.array(projection) }),
            ...refusals('admin', 'platform_only'),
          },
        },
      },
      async () => ({ projections: await list() }),
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
        begin(name)
        return reply.code(202).send({ name, state: 'rebuilding' as const })
      },
    )
  }
