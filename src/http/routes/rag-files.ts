import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { DeleteFileCommand } from '../../../commands/delete-file.ts'
import type { GetDatastore } from '../../../queries/get-datastore.ts'
import type { ListFiles } from '../../../queries/list-files.ts'
import { refusals } from '../errors/responses.ts'
import { pathId, pathName } from '../wire/fields.ts'
import { fileItem } from '../wire/knowledge.ts'

type Uses = {
  deleteFile: DeleteFileCommand
  getDatastore: GetDatastore
  listFiles: ListFiles
  /** Has the stored bytes of removed uploads erased. */
  eraseUploads(organizationId: string, uploadIds: readonly string[]): void
}

const params = z.object({ datastore_id: pathId })

const fileList = z.object({
  datastore_id: z.string(),
  files: z.array(fileItem),
  total: z.int(),
})

const deletedFile = z.object({
  success: z.boolean(),
  datastore_id: z.string(),
  filename: z.string(),
  message: z.string(),
})

/** The files of a DataStore (docs/contract/knowledge.md#datastores). */
export const ragFileRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { deleteFile, getDatastore, listFiles, eraseUploads } = uses
    const group = 'rag'
    const tags = ['knowledge']

    http.get(
      '/rag/datastores/:datastore_id/files',
      {
        config: { group, scopes: ['rag:read'] },
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

    http.delete(
      '/rag/datastores/:datastore_id/files/:filename',
      {
        config: { group, scopes: ['rag:delete'] },
        schema: {
          tags,
          summary: 'Delete one file of a DataStore',
          params: params.extend({ filename: pathName }),
          response: {
            200: deletedFile,
            ...refusals(group, 'datastore_not_found', 'file_not_found'),
          },
        },
      },
      async ({ call, params: { datastore_id, filename: sentName } }) => {
        const filename = sentName.normalize('NFC')
        const file = { datastoreId: datastore_id, filename }
        const { uploadIds } = await deleteFile(file, call)
        eraseUploads(call.organizationId, uploadIds)
        return { success: true, datastore_id, filename, message: `'${filename}' was deleted` }
      },
    )
  }
