import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { fromEvent } from 'rxjs'
import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { entries } from '../../support/bounded-schema.ts'
import type { ReplayRun } from '../../turns/replay/replay-run.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { givenId, pathId } from '../wire/fields.ts'
import { replayed } from '../wire/replayed.ts'

type Uses = { replayRun: ReplayRun }

const instruction = z.string().max(100_000)
const mostInstructions = 20

const body = z
  .object({
    model: z.enum(['recorded', 'live']).default('recorded'),
    instructions: entries(givenId, instruction)
      .refine((all) => Object.keys(all).length <= mostInstructions, {
        error: `At most ${mostInstructions} instructions are replaced`,
      })
      .default({})
      .describe('In place of those that agents have, by agent_id'),
  })
  .nullish()

/** Replays runs with the agents' current configuration (docs/contract/admin-api.md#runs). */
export const adminRunRoutes =
  ({ replayRun }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.post(
      '/organizations/:organization_id/runs/:run_id/replay',
      {
        config: { scopes: ['admin:read'], managers: true },
        schema: {
          tags: ['admin: runs'],
          summary: 'Tell a run again with the agents as they are now, and show what would change',
          params: z.object({ organization_id: pathId, run_id: pathId }),
          body,
          response: {
            200: replayed,
            ...refusals(
              'admin',
              'invalid_input',
              'role_required',
              'platform_only',
              'run_not_found',
              'run_not_replayable',
              'agent_not_found',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { model = 'recorded', instructions = {} } = request.body ?? {}
        // Nobody is charged for it.
        if (model === 'live' && request.access.kind !== 'platform') throw refusal('platform_only')
        const { organizationId } = inOrganization(request, request.params.organization_id)
        request.forgetBody()
        const { runId, sessionId, ...comparison } = await replayRun({
          organizationId,
          runId: request.params.run_id,
          live: model === 'live',
          instructions,
          disconnect: fromEvent(reply.raw, 'close'),
        })
        return { run_id: runId, session_id: sessionId, model, ...comparison }
      },
    )
  }
