import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ArrivedFile } from '../../../commands/upload-files.ts'
import type { GetUpload } from '../../../queries/get-upload.ts'
import type { ListUploads } from '../../../queries/list-uploads.ts'
import type { Spool } from '../../security/spool.ts'
import type { StorageQuotas } from '../../turns/begin/storage-quotas.ts'
import type { UploadAndEnqueue } from '../../workers/upload-and-enqueue.ts'
import { refusals } from '../errors/responses.ts'
import { decodedFiles } from '../wire/base64-files.ts'
import { integer, orAbsent, pathId } from '../wire/fields.ts'
import { datastoreId, filename, uploadItem, uploadStatus } from '../wire/knowledge.ts'
import { acceptForms } from '../wire/multipart-files.ts'

type Uses = {
  /** Resolves when the views show the uploads, which are indexed afterwards. */
  uploadAndEnqueue: UploadAndEnqueue
  quotas: Pick<StorageQuotas, 'require'>
  listUploads: ListUploads
  getUpload: GetUpload
  /** Where the files of forms are stored until the request is answered. */
  spool: Spool
}

/** One 10 MB file in base64 fits. */
const bodyLimit = 14 * 1024 * 1024

const sizeOf = (files: readonly ArrivedFile[]) => files.reduce((sum, { size }) => sum + size, 0)

const upload = z.object({
  datastore_id: datastoreId,
  files: z
    .array(z.object({ filename, content: z.string(), content_type: orAbsent(z.string()) }))
    .min(1)
    .max(10),
})

const accepted = z.object({
  success: z.boolean(),
  datastore_id: z.string(),
  datastore_name: z.string(),
  uploads: z.array(
    z.object({ upload_id: z.uuid(), filename: z.string(), status: z.literal('processing') }),
  ),
  message: z.string(),
})

const list = z.object({
  limit: integer(1, 100).default(50),
  offset: integer(0).default(0),
  status: uploadStatus.optional(),
  datastore_id: z.string().min(1).optional(),
})

/** Uploads and their status (docs/contract/knowledge.md#uploads). */
export const ragUploadRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { uploadAndEnqueue, listUploads, getUpload } = uses
    const group = 'rag'
    const reads = { group, scopes: ['rag:read'] } as const
    const tags = ['knowledge']
    const keepBytes = await acceptForms(http, uses.spool)

    /** A separate function, so that uploads waiting for the index do not hold the encoded files. */
    const arrivedFiles = async (
      request: FastifyRequest & { body: z.infer<typeof upload> },
    ): Promise<readonly ArrivedFile[]> => {
      if (request.formFiles) return request.formFiles
      const sent = request.body.files.map(({ content_type, ...file }) => ({
        ...file,
        contentType: content_type,
      }))
      return decodedFiles(sent, (bytes) => keepBytes(request, bytes))
    }

    http.post(
      '/rag/upload',
      {
        config: { group, scopes: ['rag:upload'] },
        bodyLimit,
        schema: {
          tags,
          summary: 'Upload files, as base64 in JSON or as a form; they are indexed afterwards',
          consumes: ['application/json', 'multipart/form-data'],
          body: upload,
          response: {
            200: accepted,
            ...refusals(
              group,
              'unsupported_file_type',
              'file_too_large',
              'invalid_base64',
              'datastore_not_found',
              'storage_quota_exceeded',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { access, call } = request
        const { datastore_id } = request.body
        const files = await arrivedFiles(request)
        request.forgetBody()
        await uses.quotas.require(access, sizeOf(files))
        const batch = await uploadAndEnqueue({ datastoreId: datastore_id, files }, call)
        const { length } = batch.uploads
        return {
          success: true,
          datastore_id,
          datastore_name: batch.datastoreName,
          uploads: batch.uploads.map(({ uploadId, filename }) => ({
            upload_id: uploadId,
            filename,
            status: 'processing' as const,
          })),
          message: `${length === 1 ? '1 file is' : `${length} files are`} being processed`,
        }
      },
    )

    http.get(
      '/rag/uploads',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List uploads, the latest first',
          querystring: list,
          response: {
            200: z.object({
              uploads: z.array(uploadItem),
              total: z.int(),
              limit: z.int(),
              offset: z.int(),
            }),
            ...refusals(group, 'invalid_filter'),
          },
        },
      },
      ({ access, query: { status, datastore_id, ...page } }) =>
        listUploads(access.organizationId, { status, datastoreId: datastore_id }, page),
    )

    http.get(
      '/rag/uploads/:upload_id',
      {
        config: reads,
        schema: {
          tags,
          summary: 'Get one upload; once it is ready, it can be searched',
          params: z.object({ upload_id: pathId }),
          response: {
            200: uploadItem.extend({ ready: z.boolean() }),
            ...refusals(group, 'upload_not_found'),
          },
        },
      },
      ({ access, params }) => getUpload(access.organizationId, params.upload_id),
    )
  }
