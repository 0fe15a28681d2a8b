import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { GetModel, ListModels } from '../../../queries/list-models.ts'
import { refusals } from '../errors/responses.ts'
import { pathId } from '../wire/fields.ts'

type Uses = { listModels: ListModels; getModel: GetModel }

const model = z.object({
  id: z.string().describe('svc-orchestrator, or an agent’s agent_id'),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  name: z.string(),
  description: z.string(),
})

const rules = { config: { group: 'chat', scopes: ['agents:list'] } } as const

/** GET /api/external/v1/models and /v1/models/{model_id}: what a chat’s `model` can name. */
export const modelRoutes =
  ({ listModels, getModel }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/models',
      {
        ...rules,
        schema: {
          tags: ['chat'],
          summary: 'List models: the orchestrator and every active agent',
          response: {
            200: z.object({ object: z.literal('list'), data: z.array(model) }),
            ...refusals('chat'),
          },
        },
      },
      async ({ access }) => ({
        object: 'list' as const,
        data: await listModels(access.organizationId),
      }),
    )
    http.get(
      '/models/:model_id',
      {
        ...rules,
        schema: {
          tags: ['chat'],
          summary: 'One model',
          params: z.object({ model_id: pathId }),
          response: { 200: model, ...refusals('chat', 'model_not_found') },
        },
      },
      ({ access, params }) => getModel(access.organizationId, params.model_id),
    )
  }
