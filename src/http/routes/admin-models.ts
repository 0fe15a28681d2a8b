import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ModelOffer } from '../../ports/model.ts'
import { inOrganization } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { pathId } from '../wire/fields.ts'

type Uses = { getOrganization: GetOrganization; offer: ModelOffer }

const models = z.object({
  default_model: z.string().describe('The model of agents that name none'),
  models: z
    .array(z.object({ model: z.string().describe('provider/model'), provider: z.string() }))
    .describe('Models that the platform’s configuration names'),
  providers: z.array(
    z.object({
      provider: z.string(),
      any_model: z.boolean().describe('Accepts further models, which the provider may not have'),
    }),
  ),
})

/** What agents can name as their model (docs/contract/admin-api.md#models). */
export const adminModelRoutes =
  ({ getOrganization, offer }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/organizations/:organization_id/models',
      {
        config: { scopes: ['admin:read'], managers: true },
        schema: {
          tags: ['admin: agents'],
          summary: 'List the models that agents can name',
          params: z.object({ organization_id: pathId }),
          response: {
            200: models,
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        return {
          default_model: offer.byDefault,
          models: offer.models.map(({ name: model, provider }) => ({ model, provider })),
          providers: offer.providers.map(({ name: provider, anyModel: any_model }) => ({
            provider,
            any_model,
          })),
        }
      },
    )
  }
