import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

export type Content = Answer<'/api/external/content'>['items'][number]

type ListOptions = {
  type: NonNullable<Content['content_type']> | undefined
  status: Content['status'] | undefined
  /** Whose content it is, instead of the caller's. */
  user: string | undefined
  page: number
}

const pageSize = 24
const refetchMs = 2_000

export const isUnderWay = ({ status }: Pick<Content, 'status'>): boolean =>
  status === 'pending' || status === 'processing'

/** One page of content, the newest first; read again while any is under way. */
export const contentsQuery = ({ type, status, user, page }: ListOptions) =>
  queryOptions({
    queryKey: ['contents', type, status, user, page],
    queryFn: () =>
      answerOf(
        api.GET('/api/external/content', {
          params: {
            query: {
              page,
              page_size: pageSize,
              ...(type && { content_type: type }),
              ...(status && { status }),
              ...(user && { on_behalf_of: user }),
            },
          },
        }),
      ),
    placeholderData: (former) => former,
    refetchInterval: ({ state }) => (state.data?.items.some(isUnderWay) ? refetchMs : false),
  })

const queryOf = (user: string | undefined) => (user ? { on_behalf_of: user } : {})

/** One item with its details. */
export const contentQuery = (id: string, user: string | undefined) =>
  queryOptions({
    queryKey: ['content', id, user],
    queryFn: () =>
      answerOf(
        api.GET('/api/external/content/{content_id}', {
          params: { path: { content_id: id }, query: queryOf(user) },
        }),
      ),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? refetchMs : false),
  })

/** @throws ApiError */
export const retryContent = (id: string, user: string | undefined) =>
  answerOf(
    api.POST('/api/external/content/{content_id}/retry', {
      params: { path: { content_id: id }, query: queryOf(user) },
    }),
  )
