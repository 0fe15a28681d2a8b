import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CreateDatastoreCommand } from '../../../commands/create-datastore.ts'
import type { DeleteDatastoreCommand } from '../../../commands/delete-datastore.ts'
import { datastoreView } from '../../../projections/datastores.ts'
import type { GetDatastore } from '../../../queries/get-datastore.ts'
import type { ListDatastores } from '../../../queries/list-datastores.ts'
import type { EmptyDatastore } from '../../workers/index-uploads.ts'
import { refusals } from '../errors/responses.ts'
import { boolean, orAbsent, pathId } from '../wire/fields.ts'

type Uses = {
  createDatastore: CreateDatastoreCommand
  deleteDatastore: DeleteDatastoreCommand
  listDatastores: ListDatastores
  getDatastore: GetDatastore
  emptyDatastore: EmptyDatastore
}

const params = z.object({ datastore_id: pathId })

const newDatastore = z.object({
  display_name: z.string().trim().min(1).max(200),
  description: orAbsent(z.string().max(2_000)),
})

const created = z.object({
  success: z.boolean(),
  ...datastoreView.pick({ datastore_id: true, display_name: true, description: true }).shape,
  message: z.string(),
})

const datastoreList = z.object({
  datastores: z.array(
    datastoreView.pick({
      datastore_id: true,
      display_name: true,
      description: true,
      document_count: true,
      created_at: true,
      is_active: true,
    }),
  ),
  total: z.int(),
})

const deleted = z.object({
  success: z.boolean(),
  datastore_id: z.string(),
  deleted_files: z.int(),
  message: z.string(),
})

const counted = (files: number): string => (files === 1 ? '1 file' : `${files} files`)

/** DataStores (docs/contract/knowledge.md#datastores). */
export const ragDatastoreRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createDatastore, deleteDatastore, emptyDatastore } = uses
    const { listDatastores, getDatastore } = uses
    const group = 'rag'
    const tags = ['knowledge']

    http.post(
      '/rag/datastores',
      {
        config: { group, scopes: ['rag:upload'] },
        schema: {
          tags,
          summary: 'Create a DataStore; its name is unique in the organization',
          body: newDatastore,
          response: {
            200: created,
            ...refusals(group, 'datastore_exists', 'idempotency_key_reused'),
          },
        },
      },
      async ({ body, call }) => {
        const { display_name, description = null } = body
        const { datastoreId } = await createDatastore(
          { displayName: display_name, description },
          call,
        )
        const message = `DataStore '${display_name}' was created`
        return { success: true, datastore_id: datastoreId, display_name, description, message }
      },
    )

    http.get(
      '/rag/datastores',
      {
        config: { group, scopes: ['rag:read'] },
        schema: {
          tags,
          summary: 'List the DataStores, the oldest first',
          response: { 200: datastoreList, ...refusals(group) },
        },
      },
      ({ access }) => listDatastores(access.organizationId),
    )

    http.delete(
      '/rag/datastores/:datastore_id',
      {
        config: { group, scopes: ['rag:delete'] },
        schema: {
          tags,
          summary:
            'Delete a DataStore with its files; force=true deletes it even while it is in use',
          params,
          querystring: z.object({ force: boolean.default(false) }),
          response: {
            200: deleted,
            ...refusals(group, 'datastore_not_found', 'datastore_in_use'),
          },
        },
      },
      async ({ call, params: { datastore_id }, query: { force } }) => {
        const { organizationId } = call
        const { display_name } = await getDatastore(organizationId, datastore_id)
        await deleteDatastore({ datastoreId: datastore_id, force }, call)
        const files = await emptyDatastore(organizationId, datastore_id)
        return {
          success: true,
          datastore_id,
          deleted_files: files,
          message: `DataStore '${display_name}' was deleted with ${counted(files)}`,
        }
      },
    )
  }
