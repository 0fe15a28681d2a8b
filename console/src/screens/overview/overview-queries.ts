import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

type UsageAnswer = Answer<'/api/admin/organizations/{organization_id}/usage'>
export type Usage = UsageAnswer['usage'][number]
export type Totals = UsageAnswer['total']

type Span = { organizationId: string; from: string; to: string }

/** What was used from one day to another, both included, by the given fields. */
export const usageQuery = ({ organizationId, from, to }: Span, by: string) =>
  queryOptions({
    queryKey: ['usage', organizationId, from, to, by],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/usage', {
          params: { path: { organization_id: organizationId }, query: { from, to, by } },
        }),
      ),
    // The former numbers stay until those of another range are there.
    placeholderData: (former) => former,
  })
