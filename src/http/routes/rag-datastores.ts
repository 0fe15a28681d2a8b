import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CreateDatastoreCommand } from '../../../commands/create-datastore.ts'
import type { DeleteDatastoreCommand } from '../../../commands/delete-datastore.ts'
import type { DeleteFileCommand } from '../../../commands/delete-file.ts'
import { datastoreView } from '../../../projections/datastores.ts'
import type { CountUnfinished } from '../../../queries/count-unfinished.ts'
import type { GetDatastore } from '../../../queries/get-datastore.ts'
import type { ListDatastores } from '../../../queries/list-datastores.ts'
import type { ListFiles } from '../../../queries/list-files.ts'
import type { Knowledge } from '../../ports/knowledge.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import { refusals } from '../errors/responses.ts'
import { boolean, orAbsent } from '../wire/fields.ts'
import { fileItem } from '../wire/knowledge.ts'

type Uses = {
  createDatastore: CreateDatastoreCommand
  deleteDatastore: DeleteDatastoreCommand
  deleteFile: DeleteFileCommand
  listDatastores: ListDatastores
  getDatastore: GetDatastore
  listFiles: ListFiles
  countUnfinished: CountUnfinished
  knowledge: Knowledge
  /** Removes what is left of a deleted DataStore; answers how many files. */
  clear(organizationId: string, datastoreId: string): Promise<number>
  /** Has the stored bytes of removed uploads erased. */
  eraseUploads(uploadIds: readonly string[]): void
  waitForPosition: WaitForPosition
}

const params = z.object({ datastore_id: z.string().min(1).max(128) })

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

const fileList = z.object({
  datastore_id: z.string(),
  files: z.array(fileItem),
  total: z.int(),
})

const deleted = z.object({
  success: z.boolean(),
  datastore_id: z.string(),
  deleted_files: z.int(),
  message: z.string(),
})

const deletedFile = z.object({
  success: z.boolean(),
  datastore_id: z.string(),
  filename: z.string(),
  message: z.string(),
})

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

const counted = (files: number): string => (files === 1 ? '1 file' : `${files} files`)

/** DataStores, their files, and what is found in them (docs/contract/knowledge.md#datastores). */
export const ragDatastoreRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createDatastore, deleteDatastore, deleteFile, waitForPosition } = uses
    const { listDatastores, getDatastore, listFiles, countUnfinished, knowledge } = uses
    const group = 'rag'
    const reads = { group, scopes: ['rag:read'] } as const
    const deletes = { group, scopes: ['rag:delete'] } as const
    const tags = ['knowledge']

    http.post(
      '/rag/datastores',
      {
        config: { group, scopes: ['rag:upload'] },
        schema: {
          tags,
          summary: 'Create a DataStore; no two of an organization have one name',
          body: newDatastore,
          response: {
            200: created,
            ...refusals(group, 'datastore_exists', 'idempotency_key_reused'),
          },
        },
      },
      async ({ body, call }) => {
        const { display_name, description = null } = body
        const { datastoreId, position } = await createDatastore(
          { displayName: display_name, description },
          call,
        )
        await waitForPosition(position)
        const message = `DataStore '${display_name}' was created`
        return { success: true, datastore_id: datastoreId, display_name, description, message }
      },
    )

    http.get(
      '/rag/datastores',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List the DataStores, the oldest first',
          response: { 200: datastoreList, ...refusals(group) },
        },
      },
      ({ access }) => listDatastores(access.organizationId),
    )

    http.get(
      '/rag/datastores/:datastore_id/files',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List the files of a DataStore with their status, the oldest first',
          params,
          response: { 200: fileList, ...refusals(group, 'datastore_not_found') },
        },
      },
      async ({ access: { organizationId }, params: { datastore_id } }) => {
        await getDatastore(organizationId, datastore_id)
        return listFiles(organizationId, datastore_id)
      },
    )

    http.post(
      '/rag/datastores/:datastore_id/search',
      {
        config: reads,
        schema: {
          tags,
          summary: 'Find the passages of a DataStore that answer a query best',
          params,
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
        const found = await knowledge.search(organizationId, [datastore_id], query, limit)
        return { results: [...found] }
      },
    )

    http.delete(
      '/rag/datastores/:datastore_id',
      {
        config: deletes,
        schema: {
          tags,
          summary: 'Delete a DataStore with all that is in it; force=true also while it is in use',
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
        const unfinished = await countUnfinished(organizationId, datastore_id)
        const asked = { datastoreId: datastore_id, force, unfinished }
        const { position } = await deleteDatastore(asked, call)
        await waitForPosition(position)
        const files = await uses.clear(organizationId, datastore_id)
        return {
          success: true,
          datastore_id,
          deleted_files: files,
          message: `DataStore '${display_name}' was deleted with ${counted(files)}`,
        }
      },
    )

    http.delete(
      '/rag/datastores/:datastore_id/files/:filename',
      {
        config: deletes,
        schema: {
          tags,
          summary: 'Delete one file of a DataStore',
          params: params.extend({ filename: z.string().min(1).max(1_000) }),
          response: {
            200: deletedFile,
            ...refusals(group, 'datastore_not_found', 'file_not_found'),
          },
        },
      },
      async ({ call, params: { datastore_id, filename: asked } }) => {
        const filename = asked.normalize('NFC')
        const place = { datastoreId: datastore_id, filename }
        const { uploadIds, position } = await deleteFile(place, call)
        await waitForPosition(position)
        uses.eraseUploads(uploadIds)
        return { success: true, datastore_id, filename, message: `'${filename}' was deleted` }
      },
    )
  }
