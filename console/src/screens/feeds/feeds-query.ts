import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

export type Feed = Answer<'/api/admin/organizations/{organization_id}/feeds'>['feeds'][number]

/** The read models with schema, position and lag, again every five seconds. */
export const feedsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['feeds', organizationId],
    queryFn: async () => {
      const { feeds } = await answerOf(
        api.GET('/api/admin/organizations/{organization_id}/feeds', {
          params: { path: { organization_id: organizationId } },
        }),
      )
      return feeds
    },
    refetchInterval: 5_000,
  })

/** The names of a feed's fields, from its JSON Schema. */
export const fieldsOf = ({ schema }: Feed): string[] => {
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

/** "Up to date", or how much of the log is still to be folded. */
export const lagOf = ({ lag, lag_unit }: Feed): string =>
  lag === 0 ? 'Up to date' : `${lag.toLocaleString('en')} ${lag_unit} behind`
