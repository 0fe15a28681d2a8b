import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { queryOf, type RunFilters } from './filters.ts'

type RunList = Answer<'/api/admin/organizations/{organization_id}/runs'>
export type RunSummary = RunList['runs'][number]

const pageSize = 50

const runsPage = (
  organizationId: string,
  filters: RunFilters,
  cursor: string | undefined,
  limit: number,
) =>
  answerOf(
    api.GET('/api/admin/organizations/{organization_id}/runs', {
      params: {
        path: { organization_id: organizationId },
        query: { ...queryOf(filters, new Date()), limit, ...(cursor ? { cursor } : {}) },
      },
    }),
  )

export const runsKey = (organizationId: string) => ['runs', organizationId] as const

/** One page of the runs that fit the filters. */
export const runsQuery = (
  organizationId: string,
  filters: RunFilters,
  cursor: string | undefined,
) =>
  queryOptions({
    queryKey: [...runsKey(organizationId), filters, cursor ?? ''],
    queryFn: () => runsPage(organizationId, filters, cursor, pageSize),
    placeholderData: keepPreviousData,
  })

/** The runs of a list from its beginning, to find those beside one. */
export const runsFromStartQuery = (organizationId: string, filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: ['runs-from-start', organizationId, filters],
    queryFn: ({ pageParam }) => runsPage(organizationId, filters, pageParam, 200),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: 30_000,
  })

/** The newest runs of a session. */
export const sessionRunsQuery = (organizationId: string, sessionId: string) =>
  queryOptions({
    queryKey: [...runsKey(organizationId), 'session', sessionId],
    queryFn: () => runsPage(organizationId, { session_id: sessionId }, undefined, 500),
  })

/** The models that were used in the last 90 days. */
export const modelsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['models-of-runs', organizationId],
    queryFn: async () => {
      const from = new Date(Date.now() - 90 * 86_400_000).toISOString().slice(0, 10)
      const { usage } = await answerOf(
        api.GET('/api/admin/organizations/{organization_id}/usage', {
          params: { path: { organization_id: organizationId }, query: { from, by: 'model' } },
        }),
      )
      return usage.flatMap(({ model }) => (model ? [model] : [])).toSorted()
    },
    staleTime: 60_000,
  })
