import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Delegate } from '../../security/delegate.ts'
import type { FindTurn } from '../../turns/find-turn.ts'
import { refusals } from '../errors/responses.ts'
import { pathId } from '../wire/fields.ts'
import { noEcho, progressOf, responseObject, responseOf } from '../wire/response-object.ts'
import { runOfResponse } from '../wire/responses.ts'

type Uses = { findTurn: FindTurn; delegate: Delegate }

const params = z.object({ response_id: pathId })
const query = z.object({ on_behalf_of: z.string().min(1).optional() })
const refused = ['response_not_found', 'user_not_found', 'delegation_not_allowed'] as const

/** GET /api/external/v1/responses/{response_id}. */
export const responseReadRoutes =
  ({ findTurn, delegate }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/responses/:response_id',
      {
        config: { group: 'chat', scopes: ['sessions:messages'] },
        schema: {
          tags: ['responses'],
          summary: 'A response, while it runs and after its end',
          params,
          querystring: query,
          response: { 200: responseObject, ...refusals('chat', ...refused) },
        },
      },
      async (request) => {
        const { viewer } = await delegate(request, request.query.on_behalf_of)
        const { organizationId } = request.access
        const runId = runOfResponse(request.params.response_id)
        const found = await findTurn.find({ organizationId, viewer, runId })
        const { turn } = found
        const progress = turn ? await progressOf(turn) : { status: 'in_progress' as const }
        return responseOf(found, progress, noEcho)
      },
    )
  }
