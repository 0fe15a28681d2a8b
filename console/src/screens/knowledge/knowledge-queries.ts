import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

export type Datastore = Answer<'/api/external/rag/datastores'>['datastores'][number]
export type Upload = Answer<'/api/external/rag/uploads'>['uploads'][number]
export type UploadStatus = Upload['status']

const unfinished: readonly string[] = ['processing', 'pending', 'indexing']

export const isUnfinished = ({ status }: Pick<Upload, 'status'>): boolean =>
  unfinished.includes(status)

const pageSize = 20
const refetchMs = 1_500

type UploadsOptions = { datastoreId: string; status: UploadStatus | undefined; page: number }

/** One page of a DataStore's uploads, the latest first; read again while any is unfinished. */
export const uploadsQuery = ({ datastoreId, status, page }: UploadsOptions) =>
  queryOptions({
    queryKey: ['uploads', datastoreId, status, page],
    queryFn: async () => {
      const offset = (page - 1) * pageSize
      const { uploads, total } = await answerOf(
        api.GET('/api/external/rag/uploads', {
          params: {
            query: {
              datastore_id: datastoreId,
              limit: pageSize,
              offset,
              ...(status && { status }),
            },
          },
        }),
      )
      return { uploads, total, hasNext: offset + uploads.length < total }
    },
    placeholderData: (former) => former,
    refetchInterval: ({ state }) => (state.data?.uploads.some(isUnfinished) ? refetchMs : false),
  })

export const uploadQuery = (uploadId: string) =>
  queryOptions({
    queryKey: ['upload', uploadId],
    queryFn: () =>
      answerOf(
        api.GET('/api/external/rag/uploads/{upload_id}', {
          params: { path: { upload_id: uploadId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data && isUnfinished(state.data) ? refetchMs : false),
  })

/** A document's passages, in its order, a page at a time. */
export const passagesQuery = (uploadId: string) =>
  infiniteQueryOptions({
    queryKey: ['passages', uploadId],
    queryFn: ({ pageParam: cursor }) =>
      answerOf(
        api.GET('/api/external/rag/uploads/{upload_id}/passages', {
          params: {
            path: { upload_id: uploadId },
            query: { limit: 20, ...(cursor && { cursor }) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })

const mostPassages = 20

/** The passages that answer a query best, the best first. */
export const searchQuery = (datastoreId: string, query: string) =>
  queryOptions({
    queryKey: ['search', datastoreId, query],
    queryFn: async () => {
      const { results } = await answerOf(
        api.POST('/api/external/rag/datastores/{datastore_id}/search', {
          params: { path: { datastore_id: datastoreId } },
          body: { query, limit: mostPassages },
        }),
      )
      return results
    },
  })
