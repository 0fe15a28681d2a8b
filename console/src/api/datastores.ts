import { queryOptions } from '@tanstack/react-query'
import { answerOf, api } from './client.ts'

/** The DataStores, the oldest first. */
export const datastoresQuery = queryOptions({
  queryKey: ['datastores'],
  queryFn: () => answerOf(api.GET('/api/external/rag/datastores')),
})
