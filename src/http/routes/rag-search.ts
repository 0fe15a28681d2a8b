import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { GetDatastore } from '../../../queries/get-datastore.ts'
import type { Knowledge } from '../../ports/knowledge.ts'
import { refusals } from '../errors/responses.ts'
import { orAbsent, pathId } from '../wire/fields.ts'

type Uses = { getDatastore: GetDatastore; knowledge: Knowledge }

const passages = z.object({
  results: z.array(
    z.object({
      upload_id: z.string(),
      filename: z.string(),
      chunk: z.int(),
      text: z.string(),
      place: z.string(),
      score: z.number(),
    }),
  ),
})

/** Searching a DataStore (docs/contract/knowledge.md#search). */
export const ragSearchRoutes =
  ({ getDatastore, knowledge }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const group = 'rag'

    http.post(
      '/rag/datastores/:datastore_id/search',
      {
        config: { group, scopes: ['rag:read'] },
        schema: {
          tags: ['knowledge'],
          summary: 'Find the passages of a DataStore that answer a query best',
          params: z.object({ datastore_id: pathId }),
          body: z.object({
            query: z.string().trim().min(1).max(2_000),
            limit: orAbsent(z.int().min(1).max(50)),
          }),
          response: {
            200: passages,
            ...refusals(group, 'datastore_not_found', 'idempotency_key_reused'),
          },
        },
      },
      async ({ access: { organizationId }, params: { datastore_id }, body }) => {
        await getDatastore(organizationId, datastore_id)
        const { query, limit = 10 } = body
        const results = await knowledge.search(organizationId, [datastore_id], query, limit)
        return { results: [...results] }
      },
    )
  }
