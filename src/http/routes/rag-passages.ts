import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindUpload } from '../../../queries/get-upload.ts'
import { refusal } from '../../domain/refusal.ts'
import type { PassageCursor, ReadPassages } from '../../rag/read-passages.ts'
import { refusals } from '../errors/responses.ts'
import { integer, pathId } from '../wire/fields.ts'

type Uses = { findUpload: FindUpload; readPassages: ReadPassages }

const query = z.object({
  cursor: z.string().max(200).optional().describe('`next_cursor` of the page before'),
  limit: integer(1, 200).default(50),
})

const page = z.object({
  upload_id: z.string(),
  datastore_id: z.string(),
  filename: z.string(),
  passages: z.array(
    z.object({
      chunk: z.int().describe('Its number within the document'),
      text: z.string(),
      place: z.string().describe('`line 12, Leave › Sick leave`, `page 3`'),
    }),
  ),
  next_cursor: z.string().nullable().describe('Null: there are no more passages'),
})

const cursorOf = ({ version, chunk, at }: PassageCursor): string =>
  Buffer.from(`${version} ${chunk} ${at}`).toString('base64url')

const invalidCursor = () =>
  refusal('invalid_query', {
    fields: { cursor: ['Not a cursor of these passages: begin with the first page'] },
  })

/** The place that a cursor has. @throws invalid_query */
const placeIn = (cursor: string): PassageCursor => {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, version, chunk, at] = /^([\da-f]{8}) (\d{1,9}) ([1-9]\d{0,11})$/.exec(text) ?? []
  if (version === undefined) throw invalidCursor()
  return { version, chunk: Number(chunk), at: Number(at) }
}

/** The passages of a document (docs/contract/knowledge.md#passages). */
export const ragPassageRoutes =
  ({ findUpload, readPassages }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const group = 'rag'

    http.get(
      '/rag/uploads/:upload_id/passages',
      {
        config: { group, scopes: ['rag:read'] },
        schema: {
          tags: ['knowledge'],
          summary: 'List the passages of a document, in its order',
          params: z.object({ upload_id: pathId }),
          querystring: query,
          response: { 200: page, ...refusals(group, 'upload_not_found') },
        },
      },
      async ({ access, params, query: { cursor, limit } }) => {
        const { upload } = await findUpload(access.organizationId, params.upload_id)
        const after = cursor === undefined ? undefined : placeIn(cursor)
        const read = await readPassages(upload, { after, limit })
        if (!read) throw invalidCursor()
        const { upload_id, datastore_id, filename } = upload
        return {
          upload_id,
          datastore_id,
          filename,
          passages: read.passages,
          next_cursor: read.next ? cursorOf(read.next) : null,
        }
      },
    )
  }
